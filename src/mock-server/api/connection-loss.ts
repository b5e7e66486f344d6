/**
 * A connection that breaks, as `fetch` tells it: the promise rejects with it when nothing of the
 * answer arrived, or the answer's body ends in it. The HTTP server turns it into the real thing.
 */
export class ConnectionLossError extends Error {
  override readonly name = 'ConnectionLossError';
  readonly code = 'ECONNRESET';
  /** `reset`: cut off hard. `end`: closed in an orderly way, but too early. */
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end', message: string) {
    super(message);
    this.how = how;
  }
}
