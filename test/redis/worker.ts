// A Worker without any module of Node: an endpoint whose store is reached over HTTP.

import { Redis } from '@upstash/redis/cloudflare';
import { callbackHandler } from 'merchant-payments/fetch';
import { redisStore } from 'merchant-payments/redis';

interface Bindings {
  readonly url: string;
  readonly token: string;
  readonly prefix: string;
  readonly secret: string;
}

export default {
  async fetch(request: Request, { url, token, prefix, secret }: Bindings): Promise<Response> {
    const runs: string[] = [];
    const handle = callbackHandler({
      signingSecret: secret,
      store: redisStore(new Redis({ url, token, enableTelemetry: false }), { prefix }),
      onPayment: ({ payment }) => void runs.push(payment.status),
      onError: (error) => void runs.push(String(error)),
    });
    const { status } = await handle(request);
    return Response.json({ status, runs, hasProcess: 'process' in globalThis });
  },
};
