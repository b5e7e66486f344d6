/** How the endpoint answered. */
export interface Answer {
  /** HTTP status; absent without a complete answer. */
  readonly status?: number;
  /** Why there is none. */
  readonly failure?: string;
  /** The code of the error behind it; absent when the time ran out. */
  readonly failureCode?: string;
  readonly latencyMs: number;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** The `Date` header. */
  readonly date?: string | undefined;
  /** Where a redirect leads, without the query, which may hold a token. */
  readonly location?: string | undefined;
  /** Whether it asks for HTTP authentication. */
  readonly asksForLogin?: boolean;
  /** The beginning of its body on one line, without markup, secrets and what was sent. */
  readonly quote?: () => string;
}

export const isAccepted = ({ status = 0 }: Answer): boolean => status >= 200 && status < 300;

export function describeAnswer({ status, failure, location }: Answer): string {
  if (status === undefined) return `gave no answer (${failure})`;
  if (status === 429) return 'answered 429, a rate limit';
  if (status < 300 || status >= 400) return `answered ${status}`;
  return `answered ${status}, a redirect${location ? ` to ${location}` : ''}, which is not followed`;
}
