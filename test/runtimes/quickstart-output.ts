import type { Ended } from './child.js';
import type { CaseResult } from './results.js';

/** What the quickstart must have printed, in this order. */
const steps: readonly { readonly name: string; readonly printed: RegExp }[] = [
  { name: 'creates a payment', printed: /201: payment [0-9a-f-]{36}, status "created"/ },
  { name: 'handles its callback', printed: /authentic: order-1001 is now "paid"/ },
  { name: 'tells the reply by its tracing channel', printed: /answered 200: processed/ },
  { name: 'refuses a tampered one', printed: /answered 401: rejected, SIGNATURE_MISMATCH/ },
  { name: 'handles the genuine one', printed: /authentic: order-1001 is now "refunded"/ },
  { name: 'refuses a stale one', printed: /answered 401: rejected, TIMESTAMP_OUTSIDE_WINDOW/ },
  { name: 'handles the fresh one', printed: /authentic: order-1001 is now "disputed"/ },
  { name: 'reports a failure', printed: /failed: our database is down/ },
  { name: 'asks to come again', printed: /answered 500: failed/ },
  { name: 'handles the retry', printed: /authentic: order-1001 is now "paid"/ },
  { name: 'acknowledges a duplicate', printed: /answered 200: duplicate/ },
  { name: 'ends with the order paid', printed: /The order book: order-1001 is "paid"/ },
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
