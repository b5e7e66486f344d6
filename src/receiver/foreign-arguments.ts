import type { ServerResponse } from 'node:http';
import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import type { ReceivingEnd } from './receiver.js';

/** An entry point, and what its handler takes. */
export interface EntryPoint {
  readonly name: 'node' | 'fetch' | 'fastify' | 'lambda' | 'receiver';
  /** What it takes, to follow "takes". */
  readonly takes: string;
}

/**
 * Refuses a call with what another framework passes, before anything is done: reports it to `onError`, and answers
 * 500. Throws the error, which names the right entry point, where there is no response of node:http to answer with.
 */
export async function refuseArguments(
  entry: EntryPoint,
  reportError: ReceivingEnd['report'],
  args: readonly unknown[],
): Promise<void> {
  const error = foreignArguments(entry, args);
  await reportError(error);
  const response = findResponse(args);
  if (response === undefined) throw error;
  if (response.headersSent) return;
  response.statusCode = 500;
  response.end();
}

export function foreignArguments(
  { name, takes }: EntryPoint,
  args: readonly unknown[],
): InvalidOptionError {
  return new InvalidOptionError(
    'request',
    `The handler of merchant-payments/${name} takes ${takes}; received ${describeArguments(args)}`,
  );
}

const handlerOf = (name: string, call: string): string =>
  `Use callbackHandler of merchant-payments/${name} instead: ${call}`;

/** What was passed, and what to do instead. */
function describeArguments([first, second]: readonly unknown[]): string {
  const given = fieldsOf(first);
  if (isFetchRequest(first)) return `a Request. ${handlerOf('fetch', 'handler(request)')}`;
  if (findFetchRequest(first) !== undefined) {
    return `the context of a Fetch framework such as Hono. ${handlerOf('fetch', 'handler(context.req.raw) in Hono')}`;
  }
  if (isFastifyPair(first, second)) {
    return `Fastify's request and reply. ${handlerOf('node', 'handler(request, reply), or register callbackPlugin of merchant-payments/fastify')}`;
  }
  if (isNodeResponse(second)) {
    return `a request and a response of node:http (Express, NestJS, Next.js pages). ${handlerOf('node', 'handler(request, response)')}`;
  }
  if (isNodeResponse(fieldsOf(given['node']).res)) {
    return `h3's event. ${handlerOf('node', 'handler(event.node.req, event.node.res)')}`;
  }
  if (isNodeRequest(given.req) && isNodeResponse(given.res) && hasMethods(given, 'throw')) {
    return `Koa's context. ${handlerOf('node', 'handler(ctx.req, ctx.res)')}`;
  }
  if (isNodeRequest(first) && hasMethods(first, 'pipe')) {
    return `a request of node:http without its response. ${handlerOf('node', 'handler(request, response)')}`;
  }
  if (isNodeResponse(given.res)) {
    return `an object whose res is a response of node:http. ${handlerOf('node', 'handler(request, response)')}`;
  }
  if (isHttpEvent(given)) {
    return `an HTTP event of AWS Lambda. ${handlerOf('lambda', 'handler(event, context)')}`;
  }
  if (isMessage(given)) {
    return 'an event that is no HTTP request (SQS, SNS, EventBridge). Verify each message by verifyCallback with receivedAt, as in docs/queues.md';
  }
  return `${describeValue(first)}. Pass on what the framework passes to a route, as in docs/frameworks.md`;
}

type Fields = Readonly<Record<string, unknown>>;

/** Of any value, as far as it is looked into. */
const fieldsOf = (value: unknown): Fields =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Fields)
    : {};

const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  names.every((name) => typeof fieldsOf(value)[name] === 'function');

/** A `Request` of any realm. */
function isFetchRequest(value: unknown): value is Request {
  const { method, headers } = fieldsOf(value);
  return (
    typeof method === 'string' && hasMethods(headers, 'get') && hasMethods(value, 'arrayBuffer')
  );
}

/** The `Request` in what a Fetch framework passes: itself, Hono's context, SvelteKit's event. */
export function findFetchRequest(given: unknown): Request | undefined {
  const { req, request } = fieldsOf(given);
  return [given, fieldsOf(req).raw, req, request].find(isFetchRequest);
}

export function isNodeRequest(value: unknown): boolean {
  const { method, headers } = fieldsOf(value);
  return typeof method === 'string' && typeof headers === 'object' && headers !== null;
}

export function isNodeResponse(value: unknown): boolean {
  return hasMethods(value, 'setHeader', 'end');
}

export function isFastifyPair(request: unknown, reply: unknown): boolean {
  return (
    isNodeRequest(fieldsOf(request).raw) &&
    isNodeResponse(fieldsOf(reply).raw) &&
    hasMethods(reply, 'code', 'headers', 'send')
  );
}

function isHttpEvent({ httpMethod, requestContext }: Fields): boolean {
  const { method } = fieldsOf(fieldsOf(requestContext).http);
  return typeof httpMethod === 'string' || typeof method === 'string';
}

const isMessage = (event: Fields): boolean =>
  Array.isArray(event) || Array.isArray(event['Records']) || 'detail-type' in event;

function findResponse([first, second]: readonly unknown[]): ServerResponse | undefined {
  const given = fieldsOf(first);
  const candidates = [second, fieldsOf(second).raw, given.res, fieldsOf(given.node).res];
  return candidates.find(isNodeResponse) as ServerResponse | undefined;
}
