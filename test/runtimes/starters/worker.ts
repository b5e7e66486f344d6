import { callbackHandler } from 'merchant-payments/fetch';
import { type CaseGroup, type ReportLine, runGroups } from '../cases/case.js';
import { SECRET } from '../cases/signed-callback.js';
import { OrderBook } from './order-book.js';

/** A Worker: /cases runs the cases, anything else is the merchant's endpoint. */
export function createWorker(groups: readonly CaseGroup[]) {
  const book = new OrderBook();
  const handleCallback = callbackHandler({
    signingSecret: SECRET,
    onPayment: (callback, { current }) => book.record(callback, current),
    onRejected: () => undefined,
    onError: () => undefined,
  });
  return {
    async fetch(request: Request): Promise<Response> {
      if (request.method !== 'GET') return handleCallback(request);
      if (new URL(request.url).pathname !== '/cases') return new Response(book.answer(request.url));
      const lines: ReportLine[] = [];
      await runGroups(groups, (line) => lines.push(line));
      return Response.json(lines);
    },
  };
}
