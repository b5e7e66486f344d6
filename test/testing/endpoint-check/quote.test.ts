import { expect, it } from 'vitest';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import { listen, SECRET } from './shop.js';

/** What the report quotes of an endpoint that answers 405 with this. */
async function quote(
  answer: (body: string, signature: string) => string,
): Promise<string | undefined> {
  const url = await listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    response.writeHead(405).end(answer(body, String(request.headers['x-signature'])));
  });
  const { checks } = await checkCallbackEndpoint(`${url}?token=t0k3n-of-the-query`, {
    signingSecret: SECRET,
  });
  return checks.find(({ id }) => id === 'valid-accepted')?.answer;
}

it('quotes the text of a page on one line', async () => {
  const page =
    '<html><style>b { color: red }</style>\n<h1>Fatal error</h1><p>Uncaught\tTypeError</p><script>x()</script></html>';
  expect(await quote(() => page)).toBe('Fatal error Uncaught TypeError');
});

it('quotes 200 characters, and no answer without text', async () => {
  expect(await quote(() => 'x'.repeat(5_000))).toBe(`${'x'.repeat(200)}…`);
  expect(await quote(() => '<br>')).toBeUndefined();
});

it.each<[string, Parameters<typeof quote>[0]]>([
  ['the signing secret', () => `key=${SECRET}!`],
  ['the secret in base64', () => `key=${Buffer.from(SECRET).toString('base64')}!`],
  ['the secret between markup', () => `<b>${SECRET}</b>!`],
  ['the query of the URL', () => 'no route for token=t0k3n-of-the-query!'],
])('quotes nothing of %s', async (_, answer) => {
  const shown = await quote(answer);
  expect(shown).toMatch(/\[redacted\]\s?!$/);
  expect(shown).not.toMatch(/7c19d2|t0k3n|referenceNumber/);
});

it.each<[string, Parameters<typeof quote>[0]]>([
  ['the body that was sent', (body) => `got ${body}!`],
  ['the signature that was sent', (_, signature) => `not ${signature}!`],
])('quotes nothing of an answer that repeats %s', async (_, answer) => {
  expect(await quote(answer)).toBe('[withheld: repeats the request]');
});

it('quotes an answer that names the payment', async () => {
  const shown = await quote((body) => `no order of ${JSON.parse(body).referenceNumber}`);
  expect(shown).toMatch(/^no order of [0-9a-f-]{36}$/);
});
