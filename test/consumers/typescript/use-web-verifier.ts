import type { CallbackRequest } from 'merchant-payments/callback';
import { createCallbackVerifier } from 'merchant-payments/callback/web';

// Neither Node's types nor the DOM's: the subpath needs none.
const verify = createCallbackVerifier({ signingSecret: 'whsec_example' });

export async function statusOf(request: CallbackRequest): Promise<string> {
  const { payment, timestamp } = await verify(request);
  return `${payment.status} at ${timestamp.toISOString()}`;
}
