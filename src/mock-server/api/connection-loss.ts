/**
 * A connection that breaks, as `fetch` tells it: the promise rejects with it when nothing of the
 * answer arrived, or the answer's body ends in it. The HTTP server turns it into the real thing.
 */
export class ConnectionLossError extends Error {
  /** The class's name. */
  override readonly name = 'ConnectionLossError';
  /** The code of Node's own errors for it. */
  readonly code = 'ECONNRESET';
  /** `reset`: cut off hard. `end`: closed in an orderly way, but too early. */
  readonly how: 'reset' | 'end';

  /** Made by the mock service; there is no need to make one. */
  constructor(how: 'reset' | 'end', message: string) {
    super(message);
    this.how = how;
  }
}
