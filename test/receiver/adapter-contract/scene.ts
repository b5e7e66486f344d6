import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { VerifiedCallback } from '../../../src/callback/options.js';
import type { CallbackReceiverOptions } from '../../../src/receiver/options.js';
import type { StoreContext } from '../../../src/store/callback-store.js';
import {
  type SignCallbackInput,
  type SignedCallback,
  signCallback,
} from '../../../src/testing/sign-callback.js';

export const SECRET = 'callback-secret-51d0c2';
export const PATH = '/callbacks/payments';

/** Builds a server, not listening yet, whose route PATH is the adapter's. */
export type MakeServer = (options: CallbackReceiverOptions) => Server | Promise<Server>;

export interface Scene {
  readonly server: Server;
  readonly port: number;
  /** What onPayment was called with. */
  readonly callbacks: readonly VerifiedCallback[];
  /** What onError received. */
  readonly reported: readonly { error: unknown; callback: VerifiedCallback | undefined }[];
  /** The server's ends of its connections. */
  readonly connections: readonly Socket[];
}

export type SceneOptions = Omit<Partial<CallbackReceiverOptions>, 'onPayment'> & {
  onPayment?: (callback: VerifiedCallback, context: StoreContext<undefined>) => unknown;
};

/** A server on loopback until the test is over. */
export async function openScene(
  makeServer: MakeServer,
  { onPayment, ...options }: SceneOptions = {},
): Promise<Scene> {
  const callbacks: VerifiedCallback[] = [];
  const reported: { error: unknown; callback: VerifiedCallback | undefined }[] = [];
  const connections: Socket[] = [];
  const server = await makeServer({
    signingSecret: SECRET,
    async onPayment(callback, context) {
      callbacks.push(callback);
      await onPayment?.(callback, context);
    },
    onError: (error, callback) => void reported.push({ error, callback }),
    onRejected: () => undefined,
    ...options,
  });
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, callbacks, reported, connections };
}

export function sign(
  payment: SignCallbackInput['payment'] = {},
  input: Partial<SignCallbackInput> = {},
): SignedCallback {
  return signCallback({ payment, signingSecret: SECRET, ...input });
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Delivery {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly rawBody?: Uint8Array | string;
  /** Sends the body without its length. */
  readonly chunked?: boolean;
}

/** Sends a request on a new connection, with node:http. */
export async function deliver(
  { port }: { port: number },
  { method = 'POST', path = PATH, headers = {}, rawBody, chunked }: Delivery,
): Promise<Reply> {
  const request = http.request({ host: '127.0.0.1', port, method, path, agent: false });
  for (const name in headers) request.setHeader(name, headers[name] as string | string[]);
  if (chunked) request.flushHeaders();
  else if (rawBody !== undefined) request.setHeader('content-length', Buffer.byteLength(rawBody));
  request.end(rawBody);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
