import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import { MerchantPaymentsError } from 'merchant-payments';
import { handleCallback } from './callbacks.js';
import { store } from './database.js';
import { confirmationPage, staffPage } from './staff-page.js';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const { STAFF_TOKEN = '' } = process.env;
if (STAFF_TOKEN.length < 16) {
  console.error(
    'STAFF_TOKEN is the password of /staff and needs 16 characters or more. Make one with: openssl rand -base64 24',
  );
  process.exit(1);
}

/** What a form sent. */
export type Fields = Record<'reference' | 'referenceNumber' | 'key' | 'item', string>;

/** What staff can do. None of it can be undone. */
const actions = {
  /** A person has looked at the service, which has the payment. */
  'mark-created': ({ reference, referenceNumber }: Fields) =>
    store.markCreated(reference, { referenceNumber }),
  /** A person has looked at the service, which does not have the payment. */
  'mark-not-created': ({ item }: Fields) => store.markNotCreated(JSON.parse(item)),
  /** Runs a failed change again, with the body as received. */
  async replay({ key, referenceNumber }: Fields) {
    const { outcome } = await handleCallback.replay({ key, referenceNumber });
    return ['processed', 'duplicate'].includes(outcome) ? undefined : `The replay: ${outcome}.`;
  },
  /** A person has done by hand what the item requires. */
  discard: ({ item }: Fields) => store.discard(JSON.parse(item)),
};
export type StaffAction = keyof typeof actions;

export const staff = express.Router();
staff.use(onlyStaff);

staff.get('/', async (_request, response) => {
  response.send(await staffPage());
});

staff.param('action', (_request, response, next, action) => {
  if (Object.hasOwn(actions, action)) next();
  else response.sendStatus(404);
});

/** A click on a button: says what follows, and asks once more. */
staff.post('/confirm/:action', async ({ params, body }, response) => {
  const { referenceNumber } = body;
  if (referenceNumber !== undefined && !UUID.test(referenceNumber)) {
    const problem = `"${referenceNumber}" is not a reference number. The service shows a UUID.`;
    response.status(400).send(await staffPage(problem));
    return;
  }
  response.send(confirmationPage(params.action as StaffAction, body));
});

/** The answer is yes. What the decision is based on was part of the page, and may have changed since. */
staff.post('/:action', ({ params, body }, response) =>
  act(response, () => actions[params.action as StaffAction](body)),
);

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
