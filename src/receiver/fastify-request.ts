import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import {
  closeIfUnread,
  type NodeBodySource,
  readNodeBody,
  signalWhenGone,
} from './node-request.js';
import type { ReceivingEnd } from './receiver.js';

// The parts of Fastify 4 and 5 that are used. Fastify's own types would tie the package to one version.

/** A Fastify request. */
export interface FastifyRequestLike {
  /** The request of node:http. */
  readonly raw: IncomingMessage;
  /** The body as the content type parser returned it. */
  readonly body: unknown;
  /** The raw body, if a plugin such as fastify-raw-body kept it. */
  readonly rawBody?: unknown;
}

/** A Fastify reply. */
export interface FastifyReplyLike {
  /** The response of node:http. */
  readonly raw: ServerResponse;
  /** Whether it has been sent. */
  readonly sent: boolean;
  /** Sets the status. */
  code(status: number): unknown;
  /** Sets headers. */
  headers(values: Record<string, string>): unknown;
  /** Sends the reply. */
  send(body?: string): unknown;
}

/** Receives a callback by Fastify's request and reply. Its promise is the reply, as Fastify expects it of a route. */
export async function receiveFastify(
  receive: ReceivingEnd['receive'],
  request: FastifyRequestLike,
  reply: FastifyReplyLike,
): Promise<unknown> {
  const answer = await receive({
    method: request.raw.method ?? '',
    headers: request.raw.headers,
    readBody: (limits) => readNodeBody(toBodySource(request), limits),
    getSignal: () => signalWhenGone(reply.raw),
  });
  // Something else has answered, such as a timeout of the application.
  if (reply.sent) return reply;
  closeIfUnread(request.raw, reply.raw);
  reply.code(answer.status);
  reply.headers(answer.headers);
  return reply.send(answer.body);
}

/** A parser or a hook may have put a stream in place of the request's. */
function toBodySource(request: FastifyRequestLike): NodeBodySource {
  const { raw, body } = request;
  const isStream = typeof (body as Partial<Readable> | null | undefined)?.pipe === 'function';
  const stream = isStream ? (body as Readable) : raw;
  return { stream, headers: raw.headers, keepers: [request, raw] };
}
