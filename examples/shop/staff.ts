import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import { MerchantPaymentsError } from 'merchant-payments';
import { handleCallback } from './callbacks.js';
import { inbox, outbox } from './database.js';
import { confirmationPage, staffPage } from './staff-page.js';

const { STAFF_TOKEN = '' } = process.env;
if (STAFF_TOKEN.length < 16) throw new Error('STAFF_TOKEN must have 16 characters or more');

export const staff = express.Router();
staff.use(onlyStaff);

staff.get('/', async (_request, response) => {
  response.send(await staffPage());
});

/** A person has looked at the service, which has the payment. */
staff.post('/resolve-created', (request, response) =>
  act(response, async () => {
    const { reference, referenceNumber } = request.body;
    await outbox.resolve(reference, { created: { referenceNumber } }, seenIn(request));
    return undefined;
  }),
);

/** A person has looked at the service, which does not have the payment: asks once more. */
staff.post('/confirm-not-created', (request, response) => {
  response.send(confirmationPage(request.body));
});

staff.post('/resolve-not-created', (request, response) =>
  act(response, async () => {
    await outbox.resolve(request.body.reference, 'not-created', seenIn(request));
    return undefined;
  }),
);

/** Runs a failed change again, with the body as received. */
staff.post('/replay', (request, response) =>
  act(response, async () => {
    const { outcome } = await handleCallback.replay(changeOf(request));
    return outcome === 'processed' || outcome === 'duplicate'
      ? undefined
      : `The replay: ${outcome}.`;
  }),
);

/** A person has done by hand what the change requires. */
staff.post('/discard', (request, response) =>
  act(response, async () => {
    await inbox.discard(changeOf(request));
    return undefined;
  }),
);

/** What the decision is based on, as the page showed it: the payment may have been sent again since. */
function seenIn({ body }: Request) {
  return { attempts: Number(body.attempts) };
}

function changeOf({ body }: Request) {
  return { key: body.key, paymentReference: body.paymentReference };
}

/** Returns to the lists, with any error shown above them. */
async function act(response: Response, action: () => Promise<string | undefined>) {
  const problem = await action().catch((error: unknown) => {
    // For example STATE_CHANGED: meanwhile a callback has settled the payment.
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
    response.sendStatus(403); // the browser also sends the password with forms of other sites
  } else {
    next();
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
