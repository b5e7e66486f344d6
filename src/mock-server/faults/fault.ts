/**
 * Something that goes wrong: with a request of the merchant (`on: 'request'`) or with an attempt to
 * deliver a callback (`on: 'callback'`). Each takes at most one fault, the oldest that fits. The
 * guide "Test your integration" says what each `type` does and what your code should do then.
 */
export type Fault = RequestFault | CallbackFault;

/** Something that goes wrong with a request of the merchant. */
export type RequestFault = {
  /** That it happens to requests. */
  on: 'request';
  /**
   * How often it happens before it is used up: a whole number from 1, or `Infinity`.
   * @default 1
   */
  times?: number | undefined;
  /** Which requests it is for. */
  match?: RequestFaultMatch | undefined;
} & (
  | {
      /** What happens. These have no parameter. */
      type:
        | 'unauthorized'
        | 'html-error'
        | 'malformed-json'
        | 'truncated-body'
        | 'empty-body'
        | 'reset-before-headers'
        | 'reset-in-body'
        | 'hang'
        | 'lost-answer';
    }
  | {
      /** The answer is late; the payment is created with it, or at once with `late-answer`. */
      type: 'delay' | 'late-answer';
      /** Milliseconds of the service's clock, from 0 to 2147483647. */
      delayMs: number;
    }
  | {
      /** 429. The interface shows no limits: the mock's own choice. */
      type: 'rate-limit';
      /**
       * The value of `Retry-After`: whole seconds from 0.
       * @default 1
       */
      retryAfterSeconds?: number | undefined;
    }
  | {
      /** A 4xx. The interface shows the 401 alone. */
      type: 'client-error';
      /**
       * The status, from 400 to 499.
       * @default 409
       */
      status?: number | undefined;
      /**
       * The body: anything JSON can carry. An object gets a `requestId`, as in interface section
       * 2.3, unless it has one; a text is sent as it is.
       * @default { code: 'REFUSED', message: 'The service refused the request.' }
       */
      body?: unknown;
    }
  | {
      /** A 5xx. */
      type: 'server-error';
      /**
       * The status, from 500 to 599.
       * @default 500
       */
      status?: number | undefined;
    }
);

/** Something that goes wrong with an attempt to deliver a callback. */
export type CallbackFault = {
  /** That it happens to callbacks. */
  on: 'callback';
  /**
   * How often it happens before it is used up: a whole number from 1, or `Infinity`.
   * @default 1
   */
  times?: number | undefined;
  /** Which attempts it is for. */
  match?: CallbackFaultMatch | undefined;
} & (
  | {
      /**
       * What happens. These have no parameter. After `reorder`, `setStatus` does not wait for the
       * attempt; several that are held follow newest first.
       */
      type: 'reorder' | 'drop' | 'tampered-body' | 'wrong-secret' | 'reserialized-body';
    }
  | {
      /** The attempt is sent more than once. The copies take no fault themselves. */
      type: 'duplicate';
      /**
       * `in-turn`: each after the one before was answered. `at-once`: all at the same time.
       * @default 'in-turn'
       */
      mode?: 'in-turn' | 'at-once' | undefined;
      /**
       * How many copies are sent beside the attempt itself: from 1 to 100.
       * @default 1
       */
      copies?: number | undefined;
    }
  | {
      /** The attempt is late. `setStatus` does not wait for it. */
      type: 'late-callback';
      /**
       * Milliseconds of the service's clock, from 0 to 2147483647.
       * @default 1_000
       */
      delayMs?: number | undefined;
    }
  | {
      /** X-Timestamp is in the past or in the future; the signature is right. */
      type: 'stale-timestamp' | 'future-timestamp';
      /**
       * How far, in whole seconds from 1 to 3155760000.
       * @default 600
       */
      bySeconds?: number | undefined;
    }
  | {
      /** A header is missing. */
      type: 'missing-header';
      /**
       * Which one.
       * @default 'x-signature'
       */
      header?: 'x-timestamp' | 'x-signature' | 'content-type' | undefined;
    }
  | {
      /** The status is one that the merchant does not know. The payment's own status stays. */
      type: 'unknown-status';
      /**
       * The status that is sent.
       * @default 'mock_unknown_status'
       */
      status?: string | undefined;
    }
  | {
      /** The record has a field that the interface does not show. */
      type: 'extra-field';
      /**
       * Name of the field.
       * @default 'mockExtraField'
       */
      field?: string | undefined;
      /**
       * Its value: anything JSON can carry.
       * @default 'added by the mock service'
       */
      value?: unknown;
    }
);

/** Which requests a fault is for: every field given must be equal. Without any it fits all. */
export interface RequestFaultMatch {
  /** The `merchantPaymentReference` in the request's body. */
  merchantPaymentReference?: string | undefined;
  /** The request's method, in capital letters. */
  method?: string | undefined;
  /** The request's path, without the query. */
  path?: string | undefined;
}

/** Which attempts a fault is for: every field given must be equal. Without any it fits all. */
export interface CallbackFaultMatch {
  /** The payment. */
  referenceNumber?: string | undefined;
  /** The merchant's own reference of the payment. */
  merchantPaymentReference?: string | undefined;
  /** The status the payment was set to. */
  status?: string | undefined;
  /** Number of the attempt, from 1. */
  attempt?: number | undefined;
}
