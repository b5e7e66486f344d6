import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import { MerchantPaymentsError } from 'merchant-payments';
import { handleCallback } from './callbacks.js';
import { inbox, outbox } from './database.js';
import { staffPage } from './staff-page.js';

const { STAFF_TOKEN = '' } = process.env;
if (STAFF_TOKEN.length < 16) throw new Error('STAFF_TOKEN must have 16 characters or more');

export const staff = express.Router();
staff.use(onlyStaff);

staff.get('/', async (_request, response) => {
  response.send(await staffPage());
});

/** Somebody has looked at the service: it has the payment, or it has none. */
staff.post('/resolve', (request, response) =>
  act(response, async () => {
    const { reference, referenceNumber } = request.body;
    const finding = referenceNumber ? { created: { referenceNumber } } : 'not-created';
    await outbox.resolve(reference, finding);
    return undefined;
  }),
);

/** Runs a failed change again, from the bytes that were received. */
staff.post('/replay', (request, response) =>
  act(response, async () => {
    const { outcome } = await handleCallback.replay(changeOf(request));
    return outcome === 'processed' || outcome === 'duplicate'
      ? undefined
      : `The replay: ${outcome}.`;
  }),
);

/** Somebody has done by hand what the change asks for. */
staff.post('/discard', (request, response) =>
  act(response, async () => {
    await inbox.discard(changeOf(request));
    return undefined;
  }),
);

function changeOf({ body }: Request) {
  return { key: body.key, paymentReference: body.paymentReference };
}

/** Back to the lists. What went wrong is said above them. */
async function act(response: Response, action: () => Promise<string | undefined>) {
  const problem = await action().catch((error: unknown) => {
    // Such as OUTBOX_STATE: a callback has settled the payment meanwhile.
    if (error instanceof MerchantPaymentsError) return error.message;
    throw error;
  });
  if (problem) response.status(409).send(await staffPage(problem));
  else response.redirect(303, '/staff');
}

function onlyStaff(request: Request, response: Response, next: NextFunction) {
  const [, credentials = ''] = request.headers.authorization?.split(' ') ?? [];
  const [, ...password] = Buffer.from(credentials, 'base64').toString().split(':');
  if (!timingSafeEqual(digest(password.join(':')), digest(STAFF_TOKEN))) {
    response.set('www-authenticate', 'Basic realm="staff"').sendStatus(401);
  } else if (request.method === 'POST' && request.headers['sec-fetch-site'] !== 'same-origin') {
    response.sendStatus(403); // the browser sends the password for forms of other sites too
  } else {
    next();
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
