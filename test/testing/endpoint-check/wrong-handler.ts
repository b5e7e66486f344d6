import type { RequestListener } from 'node:http';
import type { EndpointCheckId } from '../../../src/testing/endpoint-check/checks.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import type { Orders } from './shop.js';

export interface WrongHandler {
  readonly flaw: string;
  /** Exactly the checks that fail, the one to look at first before the others. */
  readonly fails: readonly [EndpointCheckId, ...EndpointCheckId[]];
  /** What the first of them says: seen, said and remedy, in one line. */
  readonly says?: RegExp;
  readonly create: () => {
    readonly listener: RequestListener;
    readonly orders: Orders;
    readonly options?: Partial<CheckCallbackEndpointOptions>;
  };
  readonly options?: Partial<CheckCallbackEndpointOptions>;
}
