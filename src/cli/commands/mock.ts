import type { MockServer, MockServerOptions } from 'merchant-payments/mock-server';
import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import { isLoopback } from '../../protocol/url.js';
import { type Call, defineCommand, parsed, text, UsageError, withDefault } from '../command.js';
import {
  describeCallbackUrl,
  describeListening,
  MockLog,
  toJsonEvent,
  toListeningEvent,
} from '../mock-log.js';
import { parseDuration, parseHttpUrl } from '../option-values.js';
import { createPaint, plainJson, plainText, printLine, printNote } from '../output.js';
import { untilStopped } from '../process-signals.js';
import { choice, signatureEncodingOption, wholeNumber } from '../shared-options.js';

// Always the same, so that a .env stays right across restarts. Identifiers are not: they would
// collide in the developer's database.
const API_KEY = 'mock_api_key';
const API_SECRET = 'mock_api_secret';
const SIGNING_SECRET = 'mock_signing_secret';

const options = {
  port: withDefault(
    wholeNumber(
      { value: 'port', help: 'The port to listen on; 0 takes a free one. Default: 4242' },
      { max: 65_535 },
    ),
    4242,
  ),
  host: withDefault(
    text({
      value: 'address',
      help: 'The address to listen on. Default: 127.0.0.1, which only this machine reaches.',
    }),
    '127.0.0.1',
  ),
  'callback-url': parsed(
    { value: 'url', help: 'Where callbacks are sent. Can be set later, in the dashboard.' },
    parseHttpUrl,
  ),
  'api-key': withDefault(
    text({ value: 'key', help: `The API key that requests must present. Default: ${API_KEY}` }),
    API_KEY,
  ),
  'api-secret': withDefault(
    text({
      value: 'secret',
      help: `The API secret that requests must present. Default: ${API_SECRET}`,
    }),
    API_SECRET,
  ),
  'signing-secret': withDefault(
    text({
      value: 'secret',
      help: `The secret callbacks are signed with. Default: ${SIGNING_SECRET}`,
    }),
    SIGNING_SECRET,
  ),
  'retry-schedule': parsed(
    {
      value: 'list',
      help: 'How long after a failed attempt the next is made, one duration per retry, or none. Default: 1s,10s,1m,10m,1h',
      sets: 'retryScheduleMs',
    },
    (name, given) =>
      given === 'none'
        ? []
        : given
            .split(',')
            .map((part) => parseDuration(`each part of ${name}`, part.trim(), LONGEST_TIMER_MS)),
  ),
  'retry-signing': choice(
    'Whether a retry is signed anew, or repeats the first timestamp and signature.',
    ['fresh', 'original'],
  ),
  'signature-encoding': signatureEncodingOption,
  'initial-status': text({
    value: 'status',
    help: 'The status of a payment that was just created. Default: created',
  }),
  seed: wholeNumber({
    value: 'n',
    help: 'What identifiers follow from: the same seed gives the same ones again. Default: a random one',
  }),
};

export const mock = defineCommand({
  name: 'mock',
  summary: 'Runs a mock of the Merchant Payment Service, with a dashboard. Ctrl-C ends it.',
  options,
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
  async run(call) {
    const { host, json } = call.options;
    const server = await start(call);
    const { stopped, release } = untilStopped(process, call.terminal.stdout);
    if (!isLoopback(host)) printNote(call.terminal, exposureWarning(host, call.terminal.stderr));
    const unsubscribe = (json ? logAsJson : logAsText)(server, call);
    await stopped;
    unsubscribe();
    await server.close();
    release();
    return undefined;
  },
});

async function start({ options: given }: Call<typeof options>): Promise<MockServer> {
  const serverOptions: MockServerOptions = {
    port: given.port,
    host: given.host,
    apiKey: given['api-key'],
    apiSecret: given['api-secret'],
    signingSecret: given['signing-secret'],
    callbackUrl: given['callback-url']?.href,
    retryScheduleMs: given['retry-schedule'],
    retrySigning: given['retry-signing'],
    signatureEncoding: given['signature-encoding'],
    initialStatus: given['initial-status'],
    seed: given.seed,
  };
  const { startMockServer } = await import('merchant-payments/mock-server');
  return startMockServer(serverOptions).catch((error: unknown) => {
    const { code, message } = error as Error & { readonly code?: unknown };
    if (code === 'PORT_IN_USE') {
      throw new UsageError(
        `port ${given.port} of ${given.host} is in use: give another one with --port, or --port 0 for a free one`,
      );
    }
    throw code === 'LISTEN_FAILED' ? new UsageError(`--host or --port: ${message}`) : error;
  });
}

function logAsText(server: MockServer, { terminal }: Pick<Call, 'terminal'>): () => void {
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

function logAsJson(server: MockServer, { terminal }: Pick<Call, 'terminal'>): () => void {
  printLine(terminal, plainJson(toListeningEvent(server)));
  return server.subscribe((event) => printLine(terminal, plainJson(toJsonEvent(event))));
}

function exposureWarning(host: string, stderr: NodeJS.WriteStream): string {
  return createPaint(stderr)(
    'yellow',
    `warning: listening on ${plainText(host)}, anybody who reaches this port can use the dashboard and the control interface, and have callbacks sent to any address; the credentials are not secret`,
  );
}
