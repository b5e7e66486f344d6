import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A service that shares no code with the package, and makes other choices than its mock.

export const apiKey = 'key_of_the_merchant';
export const apiSecret = 'secret_of_the_merchant';
export const signingSecret = 'signing_secret_of_the_merchant';

/** The person who opened the account: not for a profile. */
export const owner = { name: 'Ada', mail: 'ada@example.org', phone: 442071234567 };

const expected = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;

interface Stranger extends AsyncDisposable {
  readonly url: string;
  /** Has it send callbacks to an address: the payment was paid. */
  pay(callbackUrl: string): Promise<void>;
  /** Bodies of the requests it received. */
  readonly bodies: string[];
  /** How many payments it has. */
  count(): number;
}

interface StrangerOptions {
  /** What it does with a reference that it knows. */
  readonly repetition: 'same' | 'refused' | 'second';
  /** The status of a creation. */
  readonly status: number;
  readonly sign: (secret: string, signed: string) => string;
  readonly now: () => string;
  /** Whether a retry has the first signature. */
  readonly keepsSignature: boolean;
}

/** Starts it. Payments are created under `id`, and errors lie in a field `error`. */
export async function startStranger(options: StrangerOptions): Promise<Stranger> {
  const payments = new Map<string, Record<string, unknown>>();
  const bodies: string[] = [];
  let created = 0;
  const { repetition } = options;
  const refuse = (status: number, code: string, text: string): Answer => ({
    status,
    body: { error: { code, detail: `said to ${owner.mail}: ${text}` }, traceId: randomUUID() },
  });
  const create = (text: string, authorization: string): Answer => {
    const creation: Creation = JSON.parse(text);
    const issue = findIssue(creation, authorization);
    if (issue !== undefined) return refuse(...issue, text);
    const reference = String(creation.merchantPaymentReference);
    const known = payments.get(reference);
    if (known !== undefined && repetition === 'refused') return refuse(409, 'DUPLICATE', text);
    const isAnother = known === undefined || repetition === 'second';
    const payment = isAnother ? { id: randomUUID(), reference, state: 'waiting' } : known;
    if (isAnother) created += 1;
    payments.set(reference, payment);
    const price = [creation.amount, creation.currency ?? null];
    return {
      status: isAnother ? options.status : 200,
      body: {
        data: { ...payment, price, test: true, merchant: owner },
        payAt: `https://pay.example/${randomUUID()}?session=secret`,
      },
    };
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    bodies.push(text);
    const { authorization } = request.headers;
    if (authorization === undefined) return response.writeHead(403).end();
    const { status, body } = create(text, authorization);
    response.writeHead(status, { 'content-type': 'application/vnd.pay+json; charset=utf-8' });
    return response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v2`,
    bodies,
    count: () => created,
    async pay(callbackUrl) {
      const valid = [...payments].filter(([reference]) => reference.endsWith('-valid'));
      const [reference, payment] = valid.at(-1) ?? [];
      const at = new Date().toISOString();
      const body = JSON.stringify({
        referenceNumber: payment?.['id'],
        merchantPaymentReference: reference,
        providerReference: 'p-1',
        status: 'paid',
        createdAt: at,
        updatedAt: at,
      });
      const sign = () => {
        const timestamp = options.now();
        const signature = options.sign(signingSecret, `${timestamp}.${body}`);
        return { 'x-timestamp': timestamp, 'x-signature': signature };
      };
      const first = sign();
      const send = (headers: Record<string, string>) =>
        fetch(callbackUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
        });
      let { status } = await send(first);
      if (status !== 503) throw new Error(`the first callback was answered ${status}`);
      ({ status } = await send(options.keepsSignature ? first : sign()));
      if (status !== 200) throw new Error(`its retry was answered ${status}`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Creation {
  readonly merchantPaymentReference?: unknown;
  readonly amount?: unknown;
  readonly currency?: unknown;
}

function findIssue(
  { merchantPaymentReference, amount, currency }: Creation,
  authorization: string,
) {
  const issues: [isFound: boolean, status: number, code: string][] = [
    [authorization !== expected, 401, 'BAD_KEY'],
    [merchantPaymentReference === undefined, 422, 'REFERENCE_REQUIRED'],
    [amount === undefined, 422, 'AMOUNT_REQUIRED'],
    [typeof amount !== 'number', 400, 'AMOUNT_TYPE'],
    [Number(amount) < 0, 409, 'AMOUNT_BOUNDS'],
    [currency !== undefined && String(currency).length !== 3, 422, 'CURRENCY'],
  ];
  const [, ...issue] = issues.find(([isFound]) => isFound) ?? [];
  return issue.length === 0 ? undefined : (issue as [number, string]);
}

export const digest =
  (encoding: 'hex' | 'base64' | 'base64url') =>
  (secret: string, signed: string): string =>
    createHmac('sha256', secret).update(signed).digest(encoding);
