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
    text({ value: 'url', help: 'The base URL of the service, a sandbox. Required.' }),
  ),
  'forward-callbacks-to': parsed(
    {
      value: 'url',
      help: 'Your callback endpoint. Default: none, callbacks are not received',
    },
    parseHttpUrl,
  ),
  port: withDefault(
    portOption("The port for your code's requests; 0 picks a free one. Default: 4243"),
    4243,
  ),
  'callback-port': withDefault(
    portOption('The port for callbacks; 0 picks a free one. Default: 4244'),
    4244,
  ),
  host: hostOption,
  fault: list({
    value: 'json',
    help: 'A fault to start with, as JSON: on, type, its fields, times, match.',
  }),
};

export const proxy = defineCommand({
  name: 'proxy',
  summary:
    "Forwards requests to a real service, and its callbacks to you, with the mock's faults, until Ctrl-C.",
  options,
  details: [
    'Point your code at the address it prints, and the callback URL of the account at the callback address (through a tunnel, for example). Bodies are forwarded byte for byte, so signatures stay valid. Credentials are neither stored nor printed.',
    '',
    'While it runs, change its faults with fault add, list, remove and clear, and --mock-url. On callbacks it supports duplicate, reorder, drop and late-callback: the others need the signing secret.',
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
          `warning: listening on ${plainText(given.host)}: anyone who can reach this port can add faults and send requests to the service`,
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

/** @throws {UsageError} for a fault that is invalid, or that a proxy does not support */
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
    'Press Ctrl-C to stop.',
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
