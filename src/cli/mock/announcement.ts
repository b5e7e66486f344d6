import type { MockServer } from 'merchant-payments/mock-server';
import type { Paint } from '../colors.js';
import { plainText } from '../plain-text.js';

/** The lines that tell where a mock listens, and what to paste into a .env. */
export function describeListening(server: MockServer, paint: Paint): readonly string[] {
  return [
    paint('bold', 'Mock of the Merchant Payment Service'),
    `  address    ${server.url}`,
    `  dashboard  ${dashboardUrl(server)}`,
    `  callbacks  ${describeCallbackUrl(server)}`,
    `  seed       ${server.seed}`,
    '',
    paint('dim', '# For your .env. These credentials are no secrets: they protect nothing.'),
    ...envLines(server),
    '',
    paint('dim', 'Ctrl-C ends it.'),
    '',
  ];
}

/** The first line of `mock --json`. */
export function toListeningEvent(server: MockServer): unknown {
  const { url, apiKey, apiSecret, signingSecret, seed, callbackUrl = null } = server;
  return {
    type: 'listening',
    url,
    dashboardUrl: dashboardUrl(server),
    apiKey,
    apiSecret,
    signingSecret,
    seed,
    callbackUrl,
  };
}

/** Where callbacks go, after "callbacks go". */
export function describeCallbackUrl({ callbackUrl }: MockServer): string {
  return callbackUrl === undefined
    ? 'nowhere: give --callback-url, or set it in the dashboard'
    : `to ${plainText(callbackUrl)}`;
}

const dashboardUrl = ({ url }: MockServer): string => `${url}/_mock/`;

function envLines({ url, apiKey, apiSecret, signingSecret }: MockServer): string[] {
  return Object.entries({
    MERCHANT_PAYMENTS_BASE_URL: url,
    MERCHANT_PAYMENTS_API_KEY: apiKey,
    MERCHANT_PAYMENTS_API_SECRET: apiSecret,
    MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
  }).map(([name, value]) => {
    const quoted = quoteForEnv(value);
    return quoted === undefined
      ? `# ${name}: its value can't be written in a .env, since it has a control character or every kind of quote`
      : `${name}=${quoted}`;
  });
}

/** What reads back as `value` by `util.parseEnv` and dotenv; nothing when there is no such text. */
function quoteForEnv(value: string): string | undefined {
  if (/^[\w.:/@%+=,-]+$/.test(value)) return value;
  // As it is it could drive the terminal, and an escape of it would be read as text.
  if (plainText(value) !== value) return undefined;
  if (!value.includes("'")) return `'${value}'`;
  // Between these a backslash begins an escape.
  if (!/["\\]/.test(value)) return `"${value}"`;
  return value.includes('`') ? undefined : `\`${value}\``;
}
