import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { MockServer, MockServerOptions } from 'merchant-payments/mock-server';
import { MOCK_API_SECRET, MOCK_SIGNING_SECRET } from '../../protocol/mock-secrets.js';
import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import { isLoopback } from '../../protocol/url.js';
import {
  type Call,
  defineCommand,
  flag,
  list,
  type Option,
  parsed,
  text,
  UsageError,
  withDefault,
} from '../command.js';
import { describeCallbackUrl, EventLog, toJsonEvent } from '../event-lines.js';
import {
  choice,
  parseDuration,
  parseHttpUrl,
  readFields,
  signatureEncodingOption,
  timestampUnitOption,
  wholeNumber,
} from '../option-values.js';
import {
  createPaint,
  interruptible,
  type Paint,
  pathOf,
  printLine,
  printNote,
  type Terminal,
} from '../terminal.js';

// Fixed, so that a .env stays valid across restarts. Identifiers are not: they would collide in the
// developer's database.
const credential = (value: string, help: string, fallback: string): Option<string> =>
  withDefault(text({ value, help: `${help} Default: ${fallback}` }), fallback);

/** In raw mode the terminal sends no signal, but this. */
const CTRL_C = '\u0003';

const options = {
  port: withDefault(
    wholeNumber(
      { value: 'port', help: 'The port to listen on; 0 picks a free one. Default: 4242' },
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
    { value: 'url', help: 'Your callback endpoint. Can be set later, in the dashboard.' },
    parseHttpUrl,
  ),
  state: text({
    value: 'file',
    help: 'A file in which payments, requests and pending callbacks survive a restart. Default: none, they are forgotten',
  }),
  'payment-page': flag('Answers each creation with paymentUrl, a page on which a person pays.'),
  'api-key': credential('key', 'The API key that requests must present.', 'mock_api_key'),
  'api-secret': credential('secret', 'The API secret that requests must present.', MOCK_API_SECRET),
  'signing-secret': credential('secret', 'The secret that signs callbacks.', MOCK_SIGNING_SECRET),
  'retry-schedule': parsed(
    {
      value: 'list',
      help: 'The delay before each retry, as a list of durations, or none. Default: 1s,10s,1m,10m,1h',
    },
    (name, given) =>
      given === 'none'
        ? []
        : given
            .split(',')
            .map((part) => parseDuration(`each part of ${name}`, part.trim(), LONGEST_TIMER_MS)),
  ),
  'retry-signing': choice('Whether a retry is signed again, or repeats the first signature.', [
    'fresh',
    'original',
  ]),
  'signature-encoding': signatureEncodingOption,
  'timestamp-unit': timestampUnitOption,
  'initial-status': text({
    value: 'status',
    help: 'The status of a new payment. Default: pending',
  }),
  auto: text({
    value: 'status',
    help: 'The status that each payment changes to automatically, such as paid. Default: none',
  }),
  after: parsed(
    {
      value: 'duration',
      help: 'The delay of --auto after the creation. Default: 1s',
    },
    (name, given) => parseDuration(name, given, LONGEST_TIMER_MS),
  ),
  'answer-field': list({
    value: 'name=value',
    help: 'An additional field of the answer to a creation. The value is JSON, or text if it is not JSON; {referenceNumber} stands for that of the payment.',
  }),
  seed: wholeNumber({
    value: 'n',
    help: 'The seed of identifiers: the same seed makes the same ones. Default: a random one',
  }),
};

export const mock = defineCommand({
  summary: 'Runs a mock of the service, with a dashboard.',
  options,
  details: [
    'The default credentials are the same at every start, and public: they protect nothing. Never give the mock a real secret. A duration is a number with its unit: 500ms, 10s, 1m, 1h, 1d.',
    '',
    'A payment whose reference ends with -auto- and a status, such as order-1-auto-paid, changes to that status automatically, even without --auto.',
    '',
    'On a terminal, o opens the dashboard, and Ctrl-C ends the mock. With --json, the first line has the type "listening", and each line after it is an event.',
  ],
  examples: [
    'merchant-payments mock --callback-url http://127.0.0.1:3000/callbacks/payments',
    'merchant-payments mock --port 0 --retry-schedule 1s,10s,1m --json',
    'merchant-payments mock --auto paid --after 2s --answer-field redirectUrl=https://pay.example/{referenceNumber}',
  ],
  async run(call) {
    const { host, json } = call.options;
    const { terminal } = call;
    await using server = await start(call);
    await interruptible(terminal, async (signal, stop) => {
      if (!isLoopback(host)) printNote(terminal, exposureWarning(host, terminal));
      const stopWatching = json
        ? logAsJson(server, terminal)
        : await logAsText(server, { terminal, stop });
      if (!signal.aborted) await once(signal, 'abort');
      stopWatching();
    });
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
    paymentPage: given['payment-page'],
    retryScheduleMs: given['retry-schedule'],
    retrySigning: given['retry-signing'],
    signatureEncoding: given['signature-encoding'],
    timestampUnit: given['timestamp-unit'],
    initialStatus: given['initial-status'],
    autoStatus: given.auto,
    autoStatusAfterMs: given.after,
    answerFields: readFields('--answer-field', given['answer-field']),
    seed: given.seed,
    stateFile: given.state === undefined ? undefined : pathOf(terminal, given.state),
  };
  const { startMockServer } = await import('merchant-payments/mock-server');
  return startMockServer(serverOptions).catch((error: unknown) => {
    const { code, cause, message } = error as Error & { readonly code?: unknown };
    const isOfHost = code === 'INVALID_OPTION' && cause !== undefined;
    if (code !== 'PORT_IN_USE' && !isOfHost) throw error;
    throw new UsageError(`${message}; set them by --host and --port (0 for a free one)`);
  });
}

const dashboardUrl = ({ url }: MockServer): string => `${url}/_mock/`;

function describeListening(server: MockServer, paint: Paint): readonly string[] {
  return [
    paint('bold', 'Mock of the Merchant Payment Service'),
    `  address    ${server.url}`,
    `  dashboard  ${dashboardUrl(server)}`,
    `  callbacks  ${describeCallbackUrl(server.callbackUrl)}`,
    `  seed       ${server.seed}`,
    '',
    paint('dim', '# For your .env. These credentials are not secret: they protect nothing.'),
    ...envLines(server),
    '',
    paint('dim', 'With explainAnswers: true, your handler answers why it refused a callback.'),
    paint('dim', 'Press Ctrl-C to stop.'),
    '',
  ];
}

function envLines({ url, apiKey, apiSecret, signingSecret }: MockServer): string[] {
  return Object.entries({
    MERCHANT_PAYMENTS_BASE_URL: url,
    MERCHANT_PAYMENTS_API_KEY: apiKey,
    MERCHANT_PAYMENTS_API_SECRET: apiSecret,
    MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
  }).map(([name, value]) => {
    const isPlain = /^[\w.:/@%+=,-]+$/.test(value);
    return `${name}=${isPlain ? value : `'${plainText(value)}'`}`;
  });
}

interface Watching {
  readonly terminal: Terminal;
  readonly stop: () => void;
}

async function logAsText(server: MockServer, { terminal, stop }: Watching): Promise<() => void> {
  const paint = createPaint(terminal.stdout, terminal.env);
  const print = (line: string) => printLine(terminal, line);
  for (const line of describeListening(server, paint)) print(line);
  const log = new EventLog(paint);
  const unsubscribe = server.subscribe((event) => {
    const line = log.line(event);
    if (line !== undefined) print(line);
    if (event.type === 'settings') print(`· callbacks ${describeCallbackUrl(server.callbackUrl)}`);
  });
  const open = async () => {
    const url = dashboardUrl(server);
    if (!(await openInBrowser(url, terminal))) print(`· open ${url} in a browser`);
  };
  const ignoreKeys = await listenToKeys(terminal, { o: () => void open(), [CTRL_C]: stop });
  if (ignoreKeys !== undefined) print('Press o to open the dashboard.');
  return () => {
    ignoreKeys?.();
    unsubscribe();
  };
}

function logAsJson(server: MockServer, terminal: Terminal): () => void {
  const { url, apiKey, apiSecret, signingSecret, seed, callbackUrl = null } = server;
  const print = (event: unknown) => printLine(terminal, plainJson(event));
  print({
    type: 'listening',
    url,
    dashboardUrl: dashboardUrl(server),
    apiKey,
    apiSecret,
    signingSecret,
    seed,
    callbackUrl,
  });
  return server.subscribe((event) => print(toJsonEvent(event)));
}

function exposureWarning(host: string, { stderr, env }: Terminal): string {
  return createPaint(stderr, env)(
    'yellow',
    `warning: listening on ${plainText(host)}: anyone who reaches this port can control the mock, and let it send callbacks to any address; its credentials are public`,
  );
}

/**
 * Runs the action of a key when it is pressed. Only in the foreground of a terminal: the system stops a
 * background program that reads keys.
 *
 * @returns a function that stops listening; `undefined` where no keys can be read
 */
async function listenToKeys(
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
  actions: Readonly<Record<string, () => void>>,
): Promise<(() => void) | undefined> {
  if (!stdin.isTTY || !stdout.isTTY || !(await isInForeground())) return undefined;
  const press = (keys: string) => {
    for (const key of keys) if (Object.hasOwn(actions, key)) actions[key]?.();
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', press);
  return () => {
    stdin.off('data', press).pause().setRawMode(false);
  };
}

async function isInForeground(): Promise<boolean> {
  if (process.platform === 'win32') return true;
  const args = ['-o', 'pgid=', '-o', 'tpgid=', '-p', String(process.pid)];
  const { stdout } = await promisify(execFile)('ps', args).catch(() => ({ stdout: '' }));
  const [group, foreground] = stdout.trim().split(/\s+/);
  return group === foreground;
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/** Opens an address in the browser. Resolves with whether a program for that was there. */
async function openInBrowser(url: string, { env }: Pick<Terminal, 'env'>): Promise<boolean> {
  const opener = OPENERS[process.platform] ?? 'xdg-open';
  return promisify(execFile)(opener, [url], { env: { ...env } }).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}
