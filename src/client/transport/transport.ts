import type { ResponseHeaders } from '../../errors.js';
import type { Deadline } from '../deadline.js';

export type { ResponseHeaders } from '../../errors.js';

/** A request as it goes on the wire. Built once per call, sent once per attempt. */
export interface PreparedRequest {
  readonly method: string;
  /** Whether the method is safe: it creates nothing, however often it is sent. */
  readonly safe: boolean;
  readonly origin: string;
  /** Path and query, the base URL's prefix included. */
  readonly target: string;
  /** Path without the query, for logs. */
  readonly path: string;
  /** Holds the Authorization header: never log it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The result of one attempt. A transport never throws: a failure is a value. */
export type Exchange = Answer | Failure;

/** A status was received, perhaps with a body. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The whole body; when `bodyFailure` is set, what of it was received. */
  readonly body: Uint8Array;
  readonly bodyFailure: BodyFailure | undefined;
  /** Whether it is a page in place of the answer to a creation. */
  readonly isPage?: boolean;
}

/** Why the body of an answer could not be read completely. */
export interface BodyFailure {
  readonly reason: 'lost' | 'too-large' | 'encoded' | 'used' | 'given-up';
  readonly cause?: unknown;
}

/** No status was received. */
export interface Failure {
  readonly kind: 'failure';
  /** Whether anything of the request may have left this machine. */
  readonly sent: boolean;
  readonly reason: 'connection' | 'unusable' | 'given-up';
  readonly cause?: unknown;
}

/** A call was cancelled before its request was sent. */
export const GIVEN_UP: Failure = { kind: 'failure', sent: false, reason: 'given-up' };

/** What there is to know about the answers of a transport before they are read. */
export interface AnswerRules {
  readonly maxResponseBytes: number;
  /** Whether it decompresses bodies itself and compares their length, as fetch does. */
  readonly isDecoded: boolean;
  /** Whether the answers are a test's, which may not conform to HTTP. */
  readonly isMock: boolean;
}

export interface Transport {
  readonly answerRules: AnswerRules;
  send(request: PreparedRequest, deadline: Deadline): Promise<Exchange>;
  /** Closes all connections. Called when no call is in flight. */
  destroy(): Promise<void>;
}
