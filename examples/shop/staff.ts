import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import { MerchantPaymentsError } from 'merchant-payments';
import { handleCallback } from './callbacks.js';
import { store } from './database.js';
import { confirmationPage, staffPage } from './staff-page.js';

const { STAFF_TOKEN = '' } = process.env;
if (STAFF_TOKEN.length < 16) {
  console.error('STAFF_TOKEN, the password of /staff, must have 16 characters or more');
  process.exit(1);
}

export const staff = express.Router();
staff.use(onlyStaff);

staff.get('/', async (_request, response) => {
  response.send(await staffPage());
});

/** A person has looked at the service, which has the payment. */
staff.post('/resolve-created', ({ body }, response) => {
  const { reference, referenceNumber } = body;
  return act(response, () =>
    store.resolve(reference, { created: { referenceNumber } }, seen(body)),
  );
});

/** A person has looked at the service, which does not have the payment: asks once more. */
staff.post('/confirm-not-created', ({ body }, response) => {
  response.send(confirmationPage(body));
});

staff.post('/resolve-not-created', ({ body }, response) =>
  act(response, () => store.resolve(body.reference, 'not-created', seen(body))),
);

/** Runs a failed change again, with the body as received. */
staff.post('/replay', ({ body: { key, referenceNumber } }, response) =>
  act(response, async () => {
    const { outcome } = await handleCallback.replay({ key, referenceNumber });
    return ['processed', 'duplicate'].includes(outcome) ? undefined : `The replay: ${outcome}.`;
  }),
);

/** A person has done by hand what the item requires. */
staff.post('/discard', ({ body }, response) =>
  act(response, () => store.discard(JSON.parse(body.item))),
);

/** What the decision is based on, as the page showed it: the payment may have been sent again since. */
function seen({ attempts }: Record<string, string>) {
  return { attempts: Number(attempts) };
}

/** Returns to the lists, with any problem shown above them. */
async function act(response: Response, action: () => Promise<unknown>) {
  const problem = await action().catch((error: unknown) => {
    // For example STATE_CHANGED: meanwhile a callback has settled the payment.
    if (error instanceof MerchantPaymentsError) return error.message;
    throw error;
  });
  if (problem) response.status(409).send(await staffPage(String(problem)));
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
