import { atMost, isStarted, plainRow, report } from './report.mjs';

const ROUNDS = 25;

/** A client whose every call is refused with this message. */
async function makeClient(message) {
  const { PaymentClient } = await import('../dist/index.js');
  const body = JSON.stringify({ code: 'INVALID', message });
  return new PaymentClient({
    baseUrl: 'https://payments.invalid',
    apiKey: 'bench-key-0001',
    apiSecret: 'bench-secret-0001',
    fetch: async () => new Response(body, { status: 422 }),
  });
}

async function timeFailure(client, body) {
  const startedAt = performance.now();
  await client.request({ method: 'POST', path: '/x', body }).catch(() => {});
  return performance.now() - startedAt;
}

function makeBody(bytes) {
  const items = [];
  for (let size = 0; size < bytes; size += JSON.stringify(items.at(-1)).length + 1) {
    items.push({ sku: `sku-${items.length}`, name: `Thing "${items.length}"`, price: 100 });
  }
  return { items };
}

/** How long a failed call keeps the event loop busy with taking the body out of the answer's texts. */
async function measureBlocked(bytes, message) {
  const body = makeBody(bytes);
  // Too short to hold a part of the body, and so not searched for it.
  const [searched, bare] = [
    await makeClient(message(JSON.stringify(body))),
    await makeClient('no'),
  ];
  // The least of each: other work on the machine only adds to it.
  let withSearch = Number.POSITIVE_INFINITY;
  let without = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    withSearch = Math.min(withSearch, await timeFailure(searched, body));
    without = Math.min(without, await timeFailure(bare, body));
  }
  return Math.max(0, withSearch - without);
}

const honest = () => 'The field items[3].name is too long: at most 20 characters are allowed.';
const echo = (json) => json.slice(1_000, 5_000);

/** What redaction of the request body costs a failed call. */
export async function measureRedaction() {
  const rows = [];
  for (const [size, bytes] of [
    ['100 KB', 1e5],
    ['1 MB', 1e6],
    ['4 MB', 4e6],
  ]) {
    for (const [what, message] of [
      ['a message', honest],
      ['an echo of 4,000 characters', echo],
    ]) {
      const ms = await measureBlocked(bytes, message);
      const subject = `${size} sent, answered with ${what}`;
      rows.push(bytes === 1e6 ? atMost(subject, ms, 20, ' ms') : plainRow(subject, ms, ' ms'));
    }
  }
  return {
    title: 'redaction: event loop blocked by a failed call, beyond one that is not searched',
    rows,
  };
}

if (isStarted(import.meta.url)) report([await measureRedaction()]);
