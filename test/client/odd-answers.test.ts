import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RequestError } from '../../src/errors.js';
import { MAX_RESPONSE_BYTES, oddAnswers, type Verdict } from './odd-answers.js';
import { createClient, order, startRawServer, type TransportOptions } from './raw-server.js';

const ways: Readonly<Record<string, () => TransportOptions>> = {
  'its own connections': () => ({}),
  'a fetch': () => ({ fetch: globalThis.fetch }),
  'a dispatcher': () => {
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.destroy());
    return { dispatcher };
  },
};

async function verdictOf(url: string, options: TransportOptions): Promise<Verdict> {
  const client = createClient(url, { ...options, maxResponseBytes: MAX_RESPONSE_BYTES });
  try {
    const { payment, response } = await client.payments.create(order);
    if (payment.referenceNumber !== undefined) return { read: 'payment' };
    if (typeof response.body !== 'string') return { read: 'value' };
    return { read: response.body === '' ? 'nothing' : 'text' };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { code, requestOutcome, safeToRetry } = error;
    return { code, requestOutcome, safeToRetry };
  }
}

describe.each(Object.entries(ways))('one verdict on each odd answer, with %s:', (way, options) => {
  it.each(oddAnswers)('$what', async ({ bytes, stays, verdict, byFetch }) => {
    const server = await startRawServer({
      answer({ socket }) {
        if (stays) socket.write(bytes);
        else socket.end(bytes);
        return undefined;
      },
    });
    const expected = way === 'a fetch' ? (byFetch ?? verdict) : verdict;
    expect(await verdictOf(server.url, options())).toEqual(expected);
  });
});

it('there are odd answers in plenty, and each is told from the others', () => {
  expect(new Set(oddAnswers.map(({ what }) => what)).size).toBe(oddAnswers.length);
  expect(oddAnswers.length).toBeGreaterThan(100);
});
