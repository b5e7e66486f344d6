import type { Fault, FaultProxy, ProxiedExchange } from 'merchant-payments/mock-server';
import { isLoopback } from '../../protocol/url.js';
import {
  type Call,
  defineCommand,
  list,
  parsed,
  required,
  text,
  UsageError,
  withDefault,
} from '../command.js';
import { parseFaultJson } from '../faults.js';
import { timeOfDay } from '../layout.js';
import { parseHttpUrl } from '../option-values.js';
import { createPaint, plainJson, plainText, printLine, printNote } from '../output.js';
import { untilStopped } from '../process-signals.js';
import { hostOption, portOption } from '../shared-options.js';

const options = {
  upstream: required(
    text({ value: 'url', help: 'Base address of the service: a sandbox. Required.' }),
  ),
  'forward-callbacks-to': parsed(
    {
      value: 'url',
      help: 'Your callback endpoint. Default: none, callbacks are not received',
    },
    parseHttpUrl,
  ),
  port: withDefault(
    portOption("The port for your code's requests; 0 takes a free one. Default: 4243"),
    4243,
  ),
  'callback-port': withDefault(
    portOption('The port for callbacks; 0 takes a free one. Default: 4244'),
    4244,
  ),
  host: hostOption,
  fault: list({
    value: 'json',
    help: 'A fault to begin with, as JSON: on, type, its fields, times, match.',
  }),
};

export const proxy = defineCommand({
  name: 'proxy',
  summary:
    "Passes requests and callbacks of a real service on, with the mock's faults. Ctrl-C ends it.",
  options,
  details: [
    'Point your code at the address it prints, and the callback URL of the account at the callback address (through a tunnel, for example). Bodies pass byte for byte, so signatures hold; credentials are neither kept nor printed.',
    '',
    'Faults are added while it runs by fault add, list, remove and clear, with --mock-url. On callbacks it can do duplicate, reorder, drop and late-callback: the others need the signing secret.',
  ],
  examples: [
    'merchant-payments proxy --upstream https://sandbox.example --forward-callbacks-to http://127.0.0.1:3000/callbacks/payments',
    `merchant-payments proxy --upstream https://sandbox.example --fault '{"on":"request","type":"lost-answer"}'`,
  ],
  async run(call) {
    const { terminal, options: given } = call;
    const faults = given.fault.map(readFault);
    const started = await start(call);
    const { stopped, release } = untilStopped(process, terminal.stdout);
    try {
      for (const fault of faults) addFault(started, fault);
      printLine(terminal, given.json ? toJsonLine(started) : describe(started));
      if (!isLoopback(given.host)) {
        printNote(
          terminal,
          `warning: listening on ${plainText(given.host)}, anybody who reaches this port can add faults and send requests on`,
        );
      }
      await stopped;
    } finally {
      await started.close();
      release();
    }
    return undefined;
  },
});

function readFault(json: string): Fault {
  const fault = parseFaultJson('--fault', json) as Fault;
  return (fault?.times as unknown) === 'unlimited'
    ? { ...fault, times: Number.POSITIVE_INFINITY }
    : fault;
}

/** @throws {UsageError} for a fault that is invalid, or that a proxy can't do */
function addFault({ faults }: FaultProxy, fault: Fault): void {
  try {
    faults.add(fault);
  } catch (error) {
    throw new UsageError(`--fault: ${(error as Error).message}`);
  }
}

async function start({ options: given, terminal }: Call<typeof options>): Promise<FaultProxy> {
  const { startFaultProxy } = await import('merchant-payments/mock-server');
  const paint = createPaint(terminal.stdout);
  const onExchange = (exchange: ProxiedExchange) => {
    const line = given.json
      ? plainJson({ type: 'exchange', ...exchange })
      : `${paint('dim', timeOfDay(new Date()))}  ${describeExchange(exchange)}`;
    printLine(terminal, line);
  };
  return startFaultProxy({
    upstream: given.upstream,
    forwardCallbacksTo: given['forward-callbacks-to'],
    port: given.port,
    callbackPort: given['callback-port'],
    host: given.host,
    onExchange,
  }).catch((error: unknown) => {
    const { code, message } = error as Error & { readonly code?: unknown };
    if (code !== 'PORT_IN_USE' && code !== 'LISTEN_FAILED') throw error;
    throw new UsageError(
      `--port, --callback-port or --host: ${message}; give --host an address of this machine, each port a free number above 1023`,
    );
  });
}

const toJsonLine = ({ url, callbackUrl }: FaultProxy): string =>
  plainJson({ type: 'listening', url, callbackUrl: callbackUrl ?? null });

const describe = ({ url, callbackUrl }: FaultProxy): string =>
  [
    'Proxy of the Merchant Payment Service',
    `  address    ${url}`,
    `  callbacks  ${callbackUrl ?? 'not received: give --forward-callbacks-to'}`,
    `  faults     merchant-payments fault add … --mock-url ${url}`,
    '',
    'Ctrl-C ends it.',
  ].join('\n');

function describeExchange(exchange: ProxiedExchange): string {
  const { kind, method, path, status, fault, failure, merchantPaymentReference } = exchange;
  return [
    `${kind.padEnd(8)}  ${plainText(`${method} ${path}`)}`,
    String(status ?? 'connection broken'),
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    ...(failure === undefined ? [] : [plainText(failure)]),
    ...(merchantPaymentReference === undefined ? [] : [plainText(merchantPaymentReference)]),
    `${Math.round(exchange.durationMs)} ms`,
  ].join(', ');
}
