import type { Ended } from './child.js';
import type { CaseResult } from './results.js';

/** What `merchant-payments demo` must have printed, in this order. */
const steps: readonly { readonly name: string; readonly printed: RegExp }[] = [
  { name: 'sends a payment', printed: /→ POST \/api\/payments 201 lost order-1 2500 EUR/ },
  { name: 'keeps a payment whose answer is lost', printed: /its payment is unresolved/ },
  { name: 'does not send it again', printed: /sends nothing, its payment is unresolved/ },
  { name: 'handles its callback', printed: /order-1 is paid/ },
  { name: 'acknowledges the callback', printed: /← 200 order-1 paid, try 1/ },
  { name: 'refuses a forged callback', printed: /refuses it with SIGNATURE_MISMATCH/ },
  { name: 'answers it with 401', printed: /← 401 order-1 paid, try 1, fault wrong-secret/ },
  { name: 'acknowledges the genuine one', printed: /← 200 order-1 paid, try 2/ },
  { name: 'has one payment, paid once', printed: /1 request, 1 payment, 1 parcel/ },
  { name: 'says what to try next', printed: /npx merchant-payments mock/ },
];

export function checkDemo({ stdout, stderr, code }: Ended): readonly CaseResult[] {
  if (code !== 0 || stderr !== '') throw new Error(`ended with ${code}\n${stdout}\n${stderr}`);
  let rest = stdout;
  return steps.map(({ name, printed }) => {
    const found = rest.match(printed);
    if (found === null) return { group: 'demo', name, failure: `not printed in\n${stdout}` };
    rest = rest.slice((found.index ?? 0) + 1);
    return { group: 'demo', name };
  });
}
