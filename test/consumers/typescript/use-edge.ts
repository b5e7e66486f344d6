// What a worker or an edge route uses: no types of Node, only those of the web.

import { verifyCallback, type WebSigningSecret } from 'merchant-payments/callback/web';
import { callbackHandler } from 'merchant-payments/fetch';

const signingSecret: WebSigningSecret = 'secret';

export const POST: (request: Request) => Promise<Response> = callbackHandler({
  signingSecret,
  onPayment: ({ payment }) => console.log(payment.status),
});

export const verify = (request: Request, rawBody: ArrayBuffer) =>
  verifyCallback({ rawBody, headers: request.headers }, { signingSecret });

// @ts-expect-error: a number is no signing secret
export const wrongSecret: WebSigningSecret = 1;
