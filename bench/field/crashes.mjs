import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from './database.mjs';
import { outboxes } from './outboxes.mjs';
import { startService } from './service.mjs';

const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 250;

/** Kills the shop's process when the service has created its payment, and starts it again. */
export async function measureCrashes() {
  const results = [];
  for (const keys of [false, true]) {
    for (const [name, { needsKeys = false }] of Object.entries(outboxes)) {
      if (keys || !needsKeys) results.push(await measure(name, keys));
    }
  }
  return results;
}

async function measure(name, keys) {
  const database = `field_outbox`;
  return withDatabase(database, async ({ url: databaseUrl }) => {
    const first = Promise.withResolvers();
    const killed = Promise.withResolvers();
    let isFirst = true;
    const service = await startService({
      keys,
      async onCreated() {
        if (!isFirst) return;
        isFirst = false;
        first.resolve();
        await killed.promise;
      },
    });
    const one = startProcess(name, databaseUrl, service.url);
    await one.ready;
    one.send('start');
    await first.promise;
    await one.kill();
    killed.resolve();

    const two = startProcess(name, databaseUrl, service.url);
    await two.ready;
    const resumedAtMs = performance.now();
    two.send('resume');
    const found = await rest(two);
    const seconds = Number(((performance.now() - resumedAtMs) / 1_000).toFixed(1));
    await two.ask('hear', 'pay_1');
    const { state: afterCallback, knows: knowsAfterCallback } = await two.ask('look');
    await two.kill();
    await service.close();
    const { requests, payments } = service;
    const { state, knows } = found;
    return {
      outbox: name,
      keys,
      requests,
      payments,
      state,
      knows,
      seconds,
      afterCallback,
      knowsAfterCallback,
    };
  });
}

/** Looks until nothing more is to be expected. */
async function rest(shop) {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await shop.ask('look');
    if (found.isAtRest || performance.now() > until) return found;
    await sleep(LOOK_EVERY_MS);
  }
}

function startProcess(...args) {
  const child = fork(new URL('outbox-process.mjs', import.meta.url), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const waiting = new Map();
  child.on('message', ({ call, answer }) => waiting.get(call)?.(answer));
  const answered = (call) => new Promise((resolve) => waiting.set(call, resolve));
  return {
    ready: answered('open'),
    send: (call) => child.send({ call }),
    ask(call, argument) {
      const answer = answered(call);
      child.send({ call, argument });
      return answer;
    },
    kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      return ended;
    },
  };
}
