/**
 * Something that goes wrong with a request of the merchant (`on: 'request'`) or with an attempt to
 * deliver a callback (`on: 'callback'`). At most one fault applies to each: the oldest that matches.
 * The guide "Work with the mock" says what each `type` does and how your code should react.
 */
export type Fault = RequestFault | CallbackFault;

/** Something that goes wrong with a request of the merchant. */
export type RequestFault = {
  /** Applies to requests. */
  on: 'request';
  /**
   * How often it happens before it is used up: a whole number from 1, or `Infinity`.
   * @default 1
   */
  times?: number | undefined;
  /** Which requests it applies to. */
  match?: RequestFaultMatch | undefined;
} & (
  | {
      /** What happens. These types have no parameters. */
      type:
        | 'unauthorized'
        | 'malformed-json'
        | 'truncated-body'
        | 'empty-body'
        | 'reset-before-headers'
        | 'reset-in-body'
        | 'hang'
        | 'lost-answer';
    }
  | {
      /** The answer is late. `delay` creates the payment just before it, `late-answer` at once. */
      type: 'delay' | 'late-answer';
      /** How late, in milliseconds of the service's clock, from 0 to 2147483647. */
      delayMs: number;
    }
  | {
      /** 429. The interface documents no rate limit, so this one is the mock's own. */
      type: 'rate-limit';
      /**
       * The value of `Retry-After`: whole seconds from 0.
       * @default 1
       */
      retryAfterSeconds?: number | undefined;
    }
  | {
      /** A 4xx. The interface documents only the 401. */
      type: 'client-error';
      /**
       * The status, from 400 to 499.
       * @default 409
       */
      status?: number | undefined;
      /**
       * The body: any JSON value. An object without a `requestId` gets one, as in interface section
       * 2.3; a string is sent as it is.
       * @default { code: 'REFUSED', message: 'The service refused the request.' }
       */
      body?: unknown;
    }
  | {
      /** A page in place of the service's answer, as of a proxy, a firewall or a captive portal. */
      type: 'html-error';
      /**
       * The status, from 200 to 599. With 204, 205 and 304 there is no body.
       * @default 502
       */
      status?: number | undefined;
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
  /** Applies to callbacks. */
  on: 'callback';
  /**
   * How often it happens before it is used up: a whole number from 1, or `Infinity`.
   * @default 1
   */
  times?: number | undefined;
  /** Which attempts it applies to. */
  match?: CallbackFaultMatch | undefined;
} & (
  | {
      /**
       * What happens. These types have no parameters. With `reorder`, `setStatus` does not wait for
       * the attempt; several held attempts are sent newest first.
       */
      type: 'reorder' | 'drop' | 'tampered-body' | 'wrong-secret' | 'reserialized-body';
    }
  | {
      /** The attempt is sent more than once. No fault applies to the copies. */
      type: 'duplicate';
      /**
       * `in-turn`: each once the previous one was answered. `at-once`: all at the same time.
       * @default 'in-turn'
       */
      mode?: 'in-turn' | 'at-once' | undefined;
      /**
       * The number of extra copies, from 1 to 100.
       * @default 1
       */
      copies?: number | undefined;
    }
  | {
      /** The attempt is late. `setStatus` does not wait for it. */
      type: 'late-callback';
      /**
       * How late, in milliseconds of the service's clock, from 0 to 2147483647.
       * @default 1_000
       */
      delayMs?: number | undefined;
    }
  | {
      /** X-Timestamp is in the past or in the future; the signature is valid. */
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
       * The header to leave out.
       * @default 'x-signature'
       */
      header?: 'x-timestamp' | 'x-signature' | 'content-type' | undefined;
    }
  | {
      /** The callback has a status that the merchant does not know. The payment keeps its status. */
      type: 'unknown-status';
      /**
       * The status to send.
       * @default 'mock_unknown_status'
       */
      status?: string | undefined;
    }
  | {
      /** The record lacks a field by which nothing is decided. */
      type: 'missing-field';
      /**
       * The field.
       * @default 'providerReference'
       */
      field?: 'providerReference' | 'createdAt' | undefined;
      /**
       * Whether the field is left out, or is null.
       * @default 'left-out'
       */
      as?: 'left-out' | 'null' | undefined;
    }
  | {
      /** The record has a field that the interface does not document. */
      type: 'extra-field';
      /**
       * Name of the field.
       * @default 'mockExtraField'
       */
      field?: string | undefined;
      /**
       * Its value: any JSON value.
       * @default 'added by the mock service'
       */
      value?: unknown;
    }
);

/** Which requests a fault applies to: those that match every given field, or all if there is none. */
export interface RequestFaultMatch {
  /** The `merchantPaymentReference` in the request's body. */
  merchantPaymentReference?: string | undefined;
  /** The request's method, in capital letters. */
  method?: string | undefined;
  /** The request's path, without the query. */
  path?: string | undefined;
}

/** Which attempts a fault applies to: those that match every given field, or all if there is none. */
export interface CallbackFaultMatch {
  /** The payment's reference number. */
  referenceNumber?: string | undefined;
  /** The merchant's reference for the payment. */
  merchantPaymentReference?: string | undefined;
  /** The status the payment was set to. */
  status?: string | undefined;
  /** Number of the attempt, from 1. */
  attempt?: number | undefined;
}
