import { isIP, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { fieldOf } from '../../protocol/own-fields.js';

/** Makes several requests go out at the same moment, however long each takes to connect. */
export interface RequestHold {
  readonly onConnected: () => void;
  /** Resolves when the request may be sent. */
  readonly released: Promise<void>;
}

// msw 3 and nock 15 replace it. If they did so before this file was loaded, their own way past it remains.
const { connect } = Socket.prototype;
interface Interceptors {
  readonly __MSW_INTERNAL_CONNECTION_CONTEXT?: { readonly run: (open: () => void) => void };
}

/** Opens a connection that the interceptors of a test do not see. The request goes out when the hold ends. */
export function openSocket(
  { hostname, port, protocol }: buildConnector.Options,
  hold: RequestHold | undefined,
  callback: buildConnector.Callback,
): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'https:';
  const socket = new Socket();
  const fail = (error: Error) => callback(error, null);
  const start = async (ready: Socket) => {
    hold?.onConnected();
    await hold?.released;
    ready.off('error', fail);
    callback(null, ready);
  };
  socket.once('error', fail).once('connect', () => {
    if (!isSecure) return void start(socket);
    // Loaded on demand: it would add to every start, and few endpoints under test use TLS.
    const tls = process.getBuiltinModule('node:tls');
    const secure = tls.connect({ socket, host, servername: isIP(host) === 0 ? host : '' });
    secure.once('error', fail).once('secureConnect', () => void start(secure));
  });
  const address = { host, port: Number(port) || (isSecure ? 443 : 80), noDelay: true };
  const past = fieldOf(
    globalThis,
    '__MSW_INTERNAL_CONNECTION_CONTEXT',
  ) as Interceptors[keyof Interceptors];
  if (past === undefined) Reflect.apply(connect, socket, [address]);
  else past.run(() => void socket.connect(address));
  return socket;
}
