// What a worker or an edge route uses: no types of Node, only those of the web.

import { type SigningSecret, verifyCallbackAsync } from 'merchant-payments/callback';
import { callbackHandler } from 'merchant-payments/fetch';

const signingSecret: SigningSecret = 'secret';

export const POST: (request: Request) => Promise<Response> = callbackHandler({
  signingSecret,
  onPayment: ({ payment }) => console.log(payment.status),
});

export const verify = (request: Request, rawBody: ArrayBuffer) =>
  verifyCallbackAsync({ rawBody, headers: request.headers }, { signingSecret });

export async function archive(
  request: Request,
): Promise<readonly [BodyInit, BlobPart, BufferSource]> {
  const { rawBody } = await verify(request, await request.arrayBuffer());
  return [rawBody, rawBody, rawBody];
}

// @ts-expect-error: a number is no signing secret
export const wrongSecret: SigningSecret = 1;
