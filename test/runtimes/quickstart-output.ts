import type { Ended } from './child.js';
import type { CaseResult } from './results.js';

/** What the quickstart must have printed, in this order. */
const steps: readonly { readonly name: string; readonly printed: RegExp }[] = [
  { name: 'keeps a payment whose answer is lost', printed: /order-1001: sent, unresolved/ },
  { name: 'does not send it again', printed: /order-1001: nothing sent, unresolved/ },
  { name: 'handles its callback', printed: /ships order-1001/ },
  { name: 'reports the reply by its tracing channel', printed: /answered 200: processed/ },
  { name: 'settles it', printed: /order-1001: nothing sent, created, [0-9a-f-]{36}/ },
  { name: 'has one payment for it', printed: /1 request, 1 payment\b/ },
  { name: 'has one payment for a double click', printed: /2 requests, 2 payments/ },
  { name: 'refuses a tampered callback', printed: /answered 401: rejected, SIGNATURE_MISMATCH/ },
  { name: 'handles the genuine one', printed: /order-1001 is "refunded"/ },
  { name: 'refuses a stale one', printed: /answered 401: rejected, TIMESTAMP_OUTSIDE_WINDOW/ },
  { name: 'handles the fresh one', printed: /order-1001 is "disputed"/ },
  { name: 'reports a failure', printed: /failed: our database is down/ },
  { name: 'asks for a retry', printed: /answered 500: failed/ },
  { name: 'handles the retry', printed: /order-1001 is "paid"/ },
  { name: 'acknowledges a duplicate', printed: /answered 200: duplicate/ },
  { name: 'asks for a retry before the order is stored', printed: /answered 503: busy/ },
  { name: 'handles that retry', printed: /ships order-1003/ },
  { name: 'ships what is paid late', printed: /ships order-1004/ },
  { name: 'keeps the newer status', printed: /order-1004 is "settled", as before/ },
  { name: 'shows what the service saw', printed: /paid {6}attempt 1: refused, 500/ },
  { name: 'leaves an unpaid order unpaid', printed: /order-1002: "not paid", not shipped/ },
  { name: 'ends with the order shipped', printed: /order-1004: "settled", shipped/ },
];

export function checkQuickstart({ stdout, stderr, code }: Ended): readonly CaseResult[] {
  if (code !== 0 || stderr !== '') throw new Error(`ended with ${code}\n${stdout}\n${stderr}`);
  let rest = stdout;
  return steps.map(({ name, printed }) => {
    const found = rest.match(printed);
    if (found === null) return { group: 'quickstart', name, failure: `not printed in\n${stdout}` };
    rest = rest.slice((found.index ?? 0) + 1);
    return { group: 'quickstart', name };
  });
}
