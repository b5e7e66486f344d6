import type { IncomingMessage, ServerResponse } from 'node:http';

// The parts of Fastify 4 and 5 that are used. Its own types would tie the plugin to one of them.

/** A Fastify request. */
export interface FastifyRequestLike {
  /** The request of node:http. */
  readonly raw: IncomingMessage;
  /** What the content type parser made of the body. */
  readonly body: unknown;
  /** What a plugin such as fastify-raw-body kept of it. */
  readonly rawBody?: unknown;
}

/** A Fastify reply. */
export interface FastifyReplyLike {
  /** The response of node:http. */
  readonly raw: ServerResponse;
  /** Whether it was sent already. */
  readonly sent: boolean;
  /** Sets the status. */
  code(status: number): unknown;
  /** Sets headers. */
  headers(values: Record<string, string>): unknown;
  /** Sends the reply. */
  send(): unknown;
}

/** A Fastify instance, version 4 or 5. */
export interface FastifyInstanceLike {
  /** Forgets the parsers inherited from the parent, in this plugin only. */
  removeAllContentTypeParsers(): void;
  /** Sets how a body is parsed, in this plugin only. */
  addContentTypeParser(
    contentType: string,
    parser: (
      request: never,
      payload: IncomingMessage,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown;
  /** Runs something before the application is closed. */
  addHook(name: 'onClose', hook: () => Promise<void>): unknown;
  /** A route for every method. */
  all(
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
}
