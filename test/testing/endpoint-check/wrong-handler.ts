import type { RequestListener } from 'node:http';
import type { EndpointCheckId } from '../../../src/testing/endpoint-check/checks.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import { type Change, changed, type Orders } from './shop.js';

export interface WrongHandler {
  readonly flaw: string;
  /** Exactly the checks that fail, the one to look at first before the others. */
  readonly fails: readonly EndpointCheckId[];
  /** What the first of them says: seen, said and remedy, in one line. */
  readonly says?: RegExp | undefined;
  readonly create: () => {
    readonly listener: RequestListener;
    readonly orders: Orders;
    readonly options?: Partial<CheckCallbackEndpointOptions>;
  };
  readonly options?: Partial<CheckCallbackEndpointOptions>;
}

/** A shop with one flaw, the checks that find it, and what the first of them says. */
export const flawed = (
  flaw: string,
  fails: EndpointCheckId | readonly EndpointCheckId[],
  change: Change,
  says?: RegExp,
): WrongHandler => ({ flaw, fails: [fails].flat(), says, create: () => changed(change) });
