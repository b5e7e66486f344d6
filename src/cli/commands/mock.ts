import type { MockServer, MockServerOptions } from 'merchant-payments/mock-server';
import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import { isLoopback } from '../../protocol/url.js';
import {
  type Call,
  defineCommand,
  list,
  parsed,
  text,
  UsageError,
  withDefault,
} from '../command.js';
import { CTRL_C, listenToKeys, openInBrowser } from '../keys.js';
import {
  dashboardUrl,
  describeCallbackUrl,
  describeListening,
  MockLog,
  toJsonEvent,
  toListeningEvent,
} from '../mock-log.js';
import { parseDuration, parseHttpUrl, parseOneOf, readFields } from '../option-values.js';
import { createPaint, printLine, printNote, type Terminal } from '../output.js';
import { untilStopped } from '../process-signals.js';
import { hostOption, portOption, readProfile, wholeNumber } from '../shared-options.js';

// Fixed, so that a .env stays valid across restarts. Identifiers are not: they would collide in the
// developer's database.
const API_KEY = 'mock_api_key';
const API_SECRET = 'mock_api_secret';
const SIGNING_SECRET = 'mock_signing_secret';

/** An option with a fixed set of values; the default is that of the profile, otherwise the first. */
const profiled = <const Value extends string>(help: string, values: readonly [Value, ...Value[]]) =>
  parsed(
    {
      value: values.join('|'),
      choices: values,
      help: `${help} Default: that of the profile, otherwise ${values[0]}`,
    },
    (name, given) => parseOneOf(name, given, values),
  );

const options = {
  port: withDefault(portOption('The port to listen on; 0 picks a free one. Default: 4242'), 4242),
  host: hostOption,
  'callback-url': parsed(
    {
      value: 'url',
      help: 'The URL of your callback endpoint. Can be set later, in the dashboard.',
    },
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
      help: `The secret that signs callbacks. Default: ${SIGNING_SECRET}`,
    }),
    SIGNING_SECRET,
  ),
  'retry-schedule': parsed(
    {
      value: 'list',
      help: 'The delay before each retry, as a list of durations, or none. Default: 1s,10s,1m,10m,1h',
      sets: 'retryScheduleMs',
    },
    (name, given) =>
      given === 'none'
        ? []
        : given
            .split(',')
            .map((part) => parseDuration(`each part of ${name}`, part.trim(), LONGEST_TIMER_MS)),
  ),
  profile: text({
    value: 'file',
    help: 'A profile that discover wrote: the mock answers and signs like that service.',
  }),
  'retry-signing': profiled(
    'Whether a retry gets a new timestamp and signature, or repeats the first ones.',
    ['fresh', 'original'],
  ),
  'signature-encoding': profiled('The encoding of the signature.', ['hex', 'base64', 'base64url']),
  'timestamp-unit': profiled('The unit of X-Timestamp.', ['seconds', 'milliseconds']),
  'initial-status': text({
    value: 'status',
    help: 'The status of a new payment. Default: that of the profile, otherwise created',
  }),
  auto: text({
    value: 'status',
    help: 'The status that each payment changes to automatically, such as paid. Default: none',
    sets: 'autoStatus',
  }),
  after: parsed(
    {
      value: 'duration',
      help: 'The delay of --auto after the creation. Default: 1s',
      sets: 'autoStatusAfterMs',
    },
    (name, given) => parseDuration(name, given, LONGEST_TIMER_MS),
  ),
  'answer-field': list({
    value: 'name=value',
    help: 'An additional field of the answer to a creation. The value is JSON, or text if it is not JSON; {referenceNumber} stands for that of the payment.',
    sets: 'answerFields',
  }),
  seed: wholeNumber({
    value: 'n',
    help: 'The seed of identifiers: the same seed makes the same ones. Default: a random one',
  }),
};

export const mock = defineCommand({
  name: 'mock',
  summary: 'Runs a mock of the Merchant Payment Service, with a dashboard, until Ctrl-C.',
  options,
  details: [
    'The default credentials are the same at every start, and public: they protect nothing. Never give the mock a real secret. A duration is a number with its unit: 500ms, 10s, 1m, 1h, 1d.',
    '',
    'A payment whose reference ends with -auto- and a status, such as order-1-auto-paid, changes to that status automatically, even without --auto.',
    '',
    'With --json, the first line has the type "listening", and each line after it is an event. On a terminal, o opens the dashboard, r resets the mock, c clears the screen, q quits.',
  ],
  examples: [
    'merchant-payments mock --callback-url http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments mock --port 0 --retry-schedule 1s,10s,1m --json',
    'merchant-payments mock --retry-schedule none --seed 7',
    'merchant-payments mock --auto paid --after 2s --answer-field redirectUrl=https://pay.example/{referenceNumber}',
  ],
  async run(call) {
    const { host, json } = call.options;
    const server = await start(call);
    const { terminal } = call;
    const { stopped, stop, release } = untilStopped(terminal.signals, terminal.stdout);
    if (!isLoopback(host)) printNote(terminal, exposureWarning(host, terminal));
    const unsubscribe = (json ? logAsJson : logAsText)(server, call);
    const ignoreKeys = json ? undefined : await offerKeys(server, { terminal, stop });
    await stopped;
    ignoreKeys?.();
    unsubscribe();
    await server.close();
    release();
    return undefined;
  },
});

async function start({ options: given, terminal }: Call<typeof options>): Promise<MockServer> {
  const serverOptions: MockServerOptions = {
    port: given.port,
    host: given.host,
    apiKey: given['api-key'],
    apiSecret: given['api-secret'],
    signingSecret: given['signing-secret'],
    callbackUrl: given['callback-url']?.href,
    retryScheduleMs: given['retry-schedule'],
    profile: given.profile === undefined ? undefined : await readProfile(given.profile, terminal),
    retrySigning: given['retry-signing'],
    signatureEncoding: given['signature-encoding'],
    timestampUnit: given['timestamp-unit'],
    initialStatus: given['initial-status'],
    autoStatus: given.auto,
    autoStatusAfterMs: given.after,
    answerFields: readFields('--answer-field', given['answer-field']),
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
    if (code !== 'LISTEN_FAILED') throw error;
    throw new UsageError(
      `--host or --port: ${message}; give --host an address of this machine, --port a number above 1023`,
    );
  });
}

const CLEAR_SCREEN = '\u001b[2J\u001b[3J\u001b[H';

async function offerKeys(
  server: MockServer,
  { terminal, stop }: { readonly terminal: Terminal; readonly stop: () => void },
): Promise<(() => void) | undefined> {
  const ignoreKeys = await listenToKeys(terminal, {
    o() {
      printLine(terminal, `opening ${dashboardUrl(server)}`);
      openInBrowser(dashboardUrl(server));
    },
    r: () => server.reset(),
    c: () => void terminal.stdout.write(CLEAR_SCREEN),
    q: stop,
    [CTRL_C]: stop,
  });
  if (ignoreKeys !== undefined) {
    printLine(terminal, 'Keys: o opens the dashboard, r resets, c clears the screen, q quits.');
  }
  return ignoreKeys;
}

function logAsText(server: MockServer, { terminal }: Pick<Call, 'terminal'>): () => void {
  const paint = createPaint(terminal.stdout, terminal.env);
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

function exposureWarning(host: string, { stderr, env }: Terminal): string {
  return createPaint(stderr, env)(
    'yellow',
    `warning: listening on ${plainText(host)}: anyone who can reach this port can use the dashboard and the control interface, and have callbacks sent to any address; the credentials are not secret`,
  );
}
