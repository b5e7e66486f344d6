import type { MockServer, MockServerOptions } from 'merchant-payments/mock-server';
import { readText, requirePositionals } from '../arguments.js';
import { createPaint } from '../colors.js';
import { type Arguments, type Command, type Terminal, UsageError } from '../command.js';
import { describeCallbackUrl, describeListening, toListeningEvent } from '../mock/announcement.js';
import { toJsonEvent } from '../mock/event-json.js';
import { MockLog } from '../mock/log.js';
import { untilStopped } from '../mock/stop-signal.js';
import { parseDuration, parseHttpUrl, parseOneOf, parseWholeNumber } from '../option-values.js';
import { printLine, printNote, wantsJson } from '../output.js';
import { plainJson, plainText } from '../plain-text.js';

const DEFAULT_PORT = 4242;

// Always the same, so that a .env stays right across restarts. Identifiers are not: they would
// collide in the developer's database.
const DEFAULT_CREDENTIALS = {
  apiKey: 'mock_api_key',
  apiSecret: 'mock_api_secret',
  signingSecret: 'mock_signing_secret',
} as const;

/** What a Node timer takes: 24.8 days. */
const LONGEST_RETRY_MS = 2_147_483_647;

export const command: Command = {
  name: 'mock',
  summary: 'Runs a mock of the Merchant Payment Service, with a dashboard. Ctrl-C ends it.',
  options: {
    port: {
      type: 'string',
      value: 'port',
      help: `The port to listen on; 0 takes a free one. Default: ${DEFAULT_PORT}`,
    },
    host: {
      type: 'string',
      value: 'address',
      help: 'The address to listen on. Default: 127.0.0.1, which only this machine reaches.',
    },
    'callback-url': {
      type: 'string',
      value: 'url',
      help: 'Where callbacks are sent. Can be set later, in the dashboard.',
    },
    'api-key': {
      type: 'string',
      value: 'key',
      help: `The API key that requests must present. Default: ${DEFAULT_CREDENTIALS.apiKey}`,
    },
    'api-secret': {
      type: 'string',
      value: 'secret',
      help: `The API secret that requests must present. Default: ${DEFAULT_CREDENTIALS.apiSecret}`,
    },
    'signing-secret': {
      type: 'string',
      value: 'secret',
      help: `The secret callbacks are signed with. Default: ${DEFAULT_CREDENTIALS.signingSecret}`,
    },
    'retry-schedule': {
      type: 'string',
      value: 'list',
      help: 'How long after a failed attempt the next is made, one duration per retry, or none. Default: 1s,10s,1m,10m,1h',
    },
    'retry-signing': {
      type: 'string',
      value: 'fresh|original',
      help: 'Whether a retry is signed anew, or repeats the first timestamp and signature. Default: fresh',
    },
    'signature-encoding': {
      type: 'string',
      value: 'hex|base64|base64url',
      help: 'Encoding of the signature. Default: hex',
    },
    'initial-status': {
      type: 'string',
      value: 'status',
      help: 'The status of a payment that was just created. Default: created',
    },
    seed: {
      type: 'string',
      value: 'n',
      help: 'What identifiers follow from: the same seed gives the same ones again. Default: a random one',
    },
  },
  details: [
    'The default credentials are the same at every start, and public: they protect nothing. Never',
    'give the mock a real secret. A duration is a number with its unit: 500ms, 10s, 1m, 1h, 1d.',
    'With --json the first line has the type "listening", and each line after it is an event.',
  ],
  examples: [
    'merchant-payments mock --callback-url http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments mock --port 0 --retry-schedule 1s,10s,1m --json',
    'merchant-payments mock --retry-schedule none --seed 7',
  ],
  async run(given, terminal) {
    requirePositionals(given);
    const options = readOptions(given);
    const server = await start(options);
    const stopped = untilStopped(process);
    if (!isLoopback(options.host)) printNote(terminal, exposureWarning(options.host, terminal));
    const unsubscribe = wantsJson(given)
      ? logAsJson(server, terminal)
      : logAsText(server, terminal);
    await stopped;
    unsubscribe();
    await server.close();
    return 0;
  },
};

type Options = MockServerOptions & { readonly port: number; readonly host: string };

function readOptions(given: Arguments): Options {
  const seed = readText(given, 'seed');
  const callbackUrl = readText(given, 'callback-url');
  const schedule = readText(given, 'retry-schedule');
  const signing = readText(given, 'retry-signing');
  const encoding = readText(given, 'signature-encoding');
  return {
    port: parseWholeNumber('--port', readText(given, 'port') ?? String(DEFAULT_PORT), {
      min: 0,
      max: 65_535,
    }),
    host: readText(given, 'host') ?? '127.0.0.1',
    apiKey: readText(given, 'api-key') ?? DEFAULT_CREDENTIALS.apiKey,
    apiSecret: readText(given, 'api-secret') ?? DEFAULT_CREDENTIALS.apiSecret,
    signingSecret: readText(given, 'signing-secret') ?? DEFAULT_CREDENTIALS.signingSecret,
    callbackUrl:
      callbackUrl === undefined ? undefined : parseHttpUrl('--callback-url', callbackUrl).href,
    retryScheduleMs: schedule === undefined ? undefined : parseSchedule(schedule),
    retrySigning:
      signing === undefined
        ? undefined
        : parseOneOf('--retry-signing', signing, ['fresh', 'original']),
    signatureEncoding:
      encoding === undefined
        ? undefined
        : parseOneOf('--signature-encoding', encoding, ['hex', 'base64', 'base64url']),
    initialStatus: readText(given, 'initial-status'),
    seed:
      seed === undefined
        ? undefined
        : parseWholeNumber('--seed', seed, { min: 0, max: Number.MAX_SAFE_INTEGER }),
  };
}

function parseSchedule(text: string): readonly number[] {
  if (text === 'none') return [];
  return text
    .split(',')
    .map((part) => parseDuration('each part of --retry-schedule', part.trim(), LONGEST_RETRY_MS));
}

async function start(options: Options): Promise<MockServer> {
  const { startMockServer } = await import('merchant-payments/mock-server');
  try {
    return await startMockServer(options);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException) : undefined;
    if (cause?.code === 'EADDRINUSE') {
      throw new UsageError(
        `port ${options.port} of ${options.host} is in use: give another one with --port, or --port 0 for a free one`,
      );
    }
    throw error;
  }
}

function logAsText(server: MockServer, terminal: Terminal): () => void {
  const paint = createPaint(terminal.stdout);
  const log = new MockLog(paint);
  for (const line of describeListening(server, paint)) printLine(terminal, line);
  return server.subscribe((event) => {
    const line = log.describe(event);
    if (line !== undefined) printLine(terminal, line);
    if (event.type === 'settings') {
      printLine(terminal, `callbacks now go ${describeCallbackUrl(server)}`);
    }
  });
}

function logAsJson(server: MockServer, terminal: Terminal): () => void {
  printLine(terminal, plainJson(toListeningEvent(server)));
  return server.subscribe((event) => printLine(terminal, plainJson(toJsonEvent(event))));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function exposureWarning(host: string, { stderr }: Terminal): string {
  return createPaint(stderr)(
    'yellow',
    `warning: listening on ${plainText(host)}, whoever reaches this port can use the dashboard and the control interface, and have callbacks sent to any address; the credentials are not secret`,
  );
}
