import { type CallbackRequest, createAsyncCallbackVerifier } from 'merchant-payments/callback';

// Neither Node's types nor the DOM's: the subpath needs none.
const verify = createAsyncCallbackVerifier({ signingSecret: 'whsec_example' });

export async function statusOf(request: CallbackRequest): Promise<string> {
  const { payment, timestamp } = await verify(request);
  return `${payment.status} at ${timestamp.toISOString()}`;
}
