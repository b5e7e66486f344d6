import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import {
  checkCallbackEndpoint,
  diagnoseCallback,
  signCallback,
} from '../../../src/testing/index.js';
import { failureOf, now } from '../../callback/sample-callback.js';
import { customer, signingText } from '../planted.js';
import type { See, Walks } from '../watch.js';
import { body, record, refusals, signed, signingSecrets } from './signed-callback.js';

async function signing(see: See): Promise<void> {
  for (const signingSecret of Object.values(signingSecrets)) {
    for (const signatureEncoding of ['hex', 'base64', 'base64url'] as const) {
      const made = signCallback({
        payment: { note: customer },
        signingSecret,
        signatureEncoding,
      });
      see('the headers', made.headers);
      see('the callback', made, "a signed callback's body");
    }
  }
  for (const input of [{ signingSecret: [signingText] }, { timestamp: signingText }]) {
    const error = await failureOf(() =>
      signCallback({ payment: customer, signingSecret: signingText, ...input } as never),
    );
    see(`the error for ${Object.keys(input)}`, error);
  }
}

/** The secret as it is given wrongly: the diagnosis finds out how. */
const wronglyGiven: readonly string[] = [
  `${signingText}\n`,
  `"${signingText}"`,
  `SIGNING_SECRET=${signingText}`,
  Buffer.from(signingText).toString('base64'),
  Buffer.from(signingText).toString('hex'),
];

function diagnosing(see: See): void {
  const seeDiagnosis = (request: unknown, signingSecret: unknown): void => {
    const { payment, ...diagnosis } = diagnoseCallback(request as never, {
      signingSecret: signingSecret as never,
      now,
    }) as { payment?: unknown };
    see('the diagnosis', diagnosis);
    if (payment !== undefined) see('its payment', payment, 'the payment of a callback');
  };
  for (const secret of Object.values(signingSecrets)) {
    const requests = refusals(secret).filter(([code]) => code !== 'INVALID_OPTION');
    for (const [, request] of requests) seeDiagnosis(request, secret);
    const pretty = signed(secret, { rawBody: JSON.stringify(record, null, 2) });
    for (const given of [...wronglyGiven, wronglyGiven]) {
      seeDiagnosis(signed(secret), given);
      seeDiagnosis({ ...pretty, rawBody: body }, given);
    }
  }
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`;
}

async function checking(see: See): Promise<void> {
  const right = callbackHandler({
    signingSecret: signingText,
    onPayment: () => undefined,
    onError: () => undefined,
    onRejected: () => undefined,
  });
  const endpoints: Record<string, RequestListener> = {
    right: (request, response) => void right(request, response),
    // It takes everything, and says what it got.
    wrong: (request, response) => {
      response.setHeader('x-got', String(request.headers['x-signature'] ?? ''));
      request.pipe(response);
    },
  };
  const options = {
    signingSecret: signingText,
    merchantPaymentReference: customer,
  };
  for (const [name, listener] of Object.entries(endpoints)) {
    const url = await serve(listener);
    const report = await checkCallbackEndpoint(url, options);
    see(`the report of the ${name} endpoint`, report);
  }
}

export const testingWalks: Walks = {
  './testing signCallback': { 'and its errors': signing },
  './testing diagnoseCallback': { 'in every diagnosis': diagnosing },
  './testing checkCallbackEndpoint': { 'in reports and errors': checking },
};
