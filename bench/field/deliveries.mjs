import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from './database.mjs';
import { receivers } from './receivers.mjs';

const SENDER_DEADLINE_MS = 10_000;
const ATTEMPTS = 10;
const BETWEEN_ATTEMPTS_MS = 700;

const times = { authorized: '10:00', paid: '10:01', refunded: '10:02' };
const inTurn =
  (...statuses) =>
  async (send) => {
    for (const status of statuses) await send(status);
  };

/**
 * What a service sends, and what must be true after it: so many shipments, and the order's status. A delivery is
 * repeated until it is answered with 2xx.
 */
export const scenarios = [
  { name: 'delivered twice, in turn', send: inTurn('paid', 'paid'), status: 'paid' },
  {
    name: 'delivered twice, at once',
    plans: [{ delayMs: 300 }, { delayMs: 300 }],
    send: (send) => Promise.all([send('paid'), send('paid')]),
    status: 'paid',
  },
  { name: 'an older status comes late', send: inTurn('paid', 'authorized'), status: 'paid' },
  { name: '`paid` comes after `refunded`', send: inTurn('refunded', 'paid'), status: 'refunded' },
  {
    name: 'killed in the work',
    plans: [{ dies: 'in the work' }],
    send: inTurn('paid'),
    status: 'paid',
  },
  {
    name: 'killed after the work, before the answer',
    plans: [{ dies: 'before the answer' }],
    send: inTurn('paid'),
    status: 'paid',
  },
  {
    name: 'the work takes 11 s',
    plans: [{ delayMs: 11_000 }],
    send: inTurn('paid'),
    status: 'paid',
  },
  {
    name: 'the work fails after 9.5 s, once',
    plans: [{ delayMs: 9_500, fails: true }],
    send: inTurn('paid'),
    status: 'paid',
  },
];

/** Sends every scenario to every receiver. */
export async function measureDeliveries() {
  const results = await Promise.all(Object.keys(receivers).map(measureReceiver));
  return results.flat();
}

async function measureReceiver(name, index) {
  return withDatabase(`field_receiver_${index}`, async ({ url, query }) => {
    await query('CREATE TABLE orders (reference text PRIMARY KEY, status text)');
    // No unique key: it would hide a second shipment.
    await query('CREATE TABLE shipments (reference text)');
    await query('CREATE TABLE seen (id text PRIMARY KEY)');
    const merchant = new Merchant(name, url);
    const results = [];
    for (const [at, scenario] of scenarios.entries()) {
      const reference = `order-${at}`;
      await query('INSERT INTO orders VALUES ($1)', [reference]);
      await merchant.plan(scenario.plans ?? []);
      const answers = [];
      await scenario.send((status) =>
        merchant.deliver({ reference, status, at: timeOf(status) }, answers),
      );
      // Work that goes on although its sender has given up.
      if ((scenario.plans?.[0]?.delayMs ?? 0) > 1_000) await sleep(3_000);
      const [{ status }] = await query('SELECT status FROM orders WHERE reference = $1', [
        reference,
      ]);
      const shipments = (await query('SELECT FROM shipments WHERE reference = $1', [reference]))
        .length;
      const isRight = shipments === 1 && status === scenario.status;
      results.push({
        receiver: name,
        scenario: scenario.name,
        answers,
        shipments,
        status,
        isRight,
      });
    }
    await merchant.stop();
    return results;
  });
}

const timeOf = (status) => `2026-01-01T${times[status]}:00.000Z`;

/** A process with a receiver, started again when it was killed. */
class Merchant {
  #name;
  #databaseUrl;
  #running;

  constructor(name, databaseUrl) {
    this.#name = name;
    this.#databaseUrl = databaseUrl;
  }

  async #start() {
    const child = fork(
      new URL('receiver-process.mjs', import.meta.url),
      [this.#name, this.#databaseUrl],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      },
    );
    child.once('exit', () => {
      this.#running = undefined;
    });
    const [port] = await once(child, 'message');
    return { child, url: `http://127.0.0.1:${port}/` };
  }

  #ready() {
    this.#running ??= this.#start();
    return this.#running;
  }

  async plan(plans) {
    (await this.#ready()).child.send(plans);
  }

  /** Delivers until it is acknowledged; each attempt is signed anew. */
  async deliver(change, answers) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { url } = await this.#ready();
      const { body, headers } = await receivers[this.#name].sign(change);
      const status = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
        signal: AbortSignal.timeout(SENDER_DEADLINE_MS),
      }).then(
        (response) => response.status,
        () => 'no answer',
      );
      answers.push(status);
      if (status >= 200 && status < 300) return;
      await sleep(BETWEEN_ATTEMPTS_MS);
    }
  }

  async stop() {
    const { child } = await this.#ready();
    child.kill();
    await once(child, 'exit');
  }
}
