import type { Ended } from './child.js';
import type { CaseResult } from './results.js';

/** What the quickstart must have printed, in this order. */
const steps: readonly { readonly name: string; readonly printed: RegExp }[] = [
  { name: 'creates a payment', printed: /201: [0-9a-f-]{36}, status "created"/ },
  { name: 'handles its callback', printed: /ships order-1001/ },
  { name: 'tells the reply by its tracing channel', printed: /answered 200: processed/ },
  { name: 'refuses a tampered one', printed: /answered 401: rejected, SIGNATURE_MISMATCH/ },
  { name: 'handles the genuine one', printed: /order-1001 is "refunded"/ },
  { name: 'refuses a stale one', printed: /answered 401: rejected, TIMESTAMP_OUTSIDE_WINDOW/ },
  { name: 'handles the fresh one', printed: /order-1001 is "disputed"/ },
  { name: 'reports a failure', printed: /failed: our database is down/ },
  { name: 'asks for a retry', printed: /answered 500: failed/ },
  { name: 'handles the retry', printed: /order-1001 is "paid"/ },
  { name: 'acknowledges a duplicate', printed: /answered 200: duplicate/ },
  { name: 'asks for a retry before the order is stored', printed: /answered 503: busy/ },
  { name: 'handles that retry', printed: /ships order-1002/ },
  { name: 'ships what is paid late', printed: /ships order-1003/ },
  { name: 'ends with the order shipped', printed: /order-1003: "settled", shipped/ },
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
