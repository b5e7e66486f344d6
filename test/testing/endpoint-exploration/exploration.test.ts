import { expect, it, vi } from 'vitest';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { CheckedPayment } from '../../../src/testing/endpoint-check/options.js';
import { exploreCallbackEndpoint } from '../../../src/testing/endpoint-exploration/explore-callback-endpoint.js';
import type { ExploreCallbackEndpointOptions } from '../../../src/testing/endpoint-exploration/options.js';
import { type Callback, listen, SECRET, Shop } from '../endpoint-check/shop.js';

// A guard against hanging: a busy machine takes many times the few seconds of a run.
vi.setConfig({ testTimeout: 240_000 });

async function explore(shop: Shop, options: Partial<ExploreCallbackEndpointOptions> = {}) {
  return exploreCallbackEndpoint(await listen(shop.listener), {
    signingSecret: SECRET,
    effectsWithinMs: 50,
    countEffects: (payment) => shop.orders.countOf(payment),
    ...(options.script === undefined && { schedules: 10, seed: 4 }),
    ...options,
  });
}

const paid = { do: 'deliver', payment: 1, change: 'paid' } as const;

it('says what was left out', async () => {
  const { leftOut, passed } = await explore(new Shop());
  expect(passed).toBe(true);
  expect(leftOut).toEqual([
    'restarts: none without a way to restart the endpoint',
    'the status that is kept: countEffects returned none',
  ]);
});

it('restarts between the callbacks where there is a way to, and waits for the endpoint', async () => {
  let restarts = 0;
  const restart = () => {
    restarts += 1;
  };
  const { leftOut, passed } = await explore(new Shop(), { restart });
  expect(passed).toBe(true);
  expect(restarts).toBeGreaterThan(3);
  expect(leftOut).toHaveLength(1);
});

it('sends the schedules of the seed', async () => {
  const sent = async () => {
    const statuses: string[] = [];
    const shop = new (class extends Shop {
      protected override async process(payment: PaymentStatusRecord, callback: Callback) {
        statuses.push(payment.status);
        return super.process(payment, callback);
      }
      // Within one turn: no copy meets another one that is being processed.
      protected override async query(): Promise<void> {}
    })();
    await explore(shop);
    // Which of those at once is the first is the network's choice.
    return statuses.sort();
  };
  expect(await sent()).toEqual(await sent());
});

it('signs what is late with its own time', async () => {
  const ages: number[] = [];
  const shop = new (class extends Shop {
    protected override isFresh(timestamp: number): boolean {
      ages.push(Math.floor(Date.now() / 1000) - timestamp);
      return super.isFresh(timestamp);
    }
  })();
  await explore(shop, { script: [{ ...paid, lateSeconds: 100 }] });
  expect(ages.at(-1)).toBeGreaterThanOrEqual(100);
});

it('takes a callback for delivered that was answered 503 first and 200 later', async () => {
  const seen = new Set<string>();
  const shop = new (class extends Shop {
    protected override async process(payment: PaymentStatusRecord, callback: Callback) {
      const change = this.changeOf(payment, callback);
      if (!seen.has(change)) {
        seen.add(change);
        return 503;
      }
      return super.process(payment, callback);
    }
  })();
  expect((await explore(shop)).failure).toBeUndefined();
});

it('asks for a way to restart what a script has ended', async () => {
  /** Accepts nothing any more after a broken connection. */
  class FragileShop extends Shop {
    isDown = false;
    protected override async read(...args: Parameters<Shop['read']>) {
      try {
        return await super.read(...args);
      } catch (error) {
        this.isDown = true;
        throw error;
      }
    }
    protected override async process(payment: PaymentStatusRecord, callback: Callback) {
      return this.isDown ? 500 : super.process(payment, callback);
    }
  }
  const { failure } = await explore(new FragileShop(), { schedules: 40 });
  expect(failure).toMatchObject({ invariant: 'accepted', shrunk: { ended: 'endpoint-down' } });

  const shop = new FragileShop();
  const restart = () => {
    shop.isDown = false;
  };
  const restarted = await explore(shop, { schedules: 40, restart });
  expect(restarted.failure).toMatchObject({
    invariant: 'accepted',
    // Left behind by the schedule before the one that failed: what was dropped there was acknowledged.
    script: [{ do: 'drop', payment: 1 }],
    shrunk: { ended: 'complete' },
  });
});

it('does not shrink what fails once', async () => {
  let acts = 0;
  const shop = new (class extends Shop {
    protected override act(payment: PaymentStatusRecord): void {
      acts += 1;
      // Beyond what is delivered in order, so that it is a schedule that fails.
      if (acts === 20) this.orders.count(payment);
      super.act(payment);
    }
  })();
  const { failure, ran } = await explore(shop);
  expect(failure).toMatchObject({
    invariant: 'once',
    schedule: ran,
    shrunk: { ended: 'not-again', fromSteps: failure?.script.length },
  });
  expect(failure?.referenceNumbers).not.toEqual([]);
});

it('refuses everything: the first callback is the script', async () => {
  const shop = new (class extends Shop {
    protected override async process() {
      return 404;
    }
  })();
  const { failure } = await explore(shop);
  expect(failure).toMatchObject({
    invariant: 'accepted',
    detail: 'paid of payment 1: the endpoint answered 404',
    script: [paid],
  });
});

const premises: readonly [string, RegExp, Partial<ExploreCallbackEndpointOptions>][] = [
  [
    'the probe fails',
    /^countEffects threw Error/,
    {
      countEffects: () => {
        throw new Error('no table');
      },
    },
  ],
  [
    'the probe counts all payments',
    /^countEffects does not distinguish payments/,
    { countEffects: all() },
  ],
  [
    'there is no order',
    /^merchantPaymentReference must return a string/,
    { merchantPaymentReference: () => '' },
  ],
  [
    'the restart fails',
    /^restart threw TypeError/,
    { restart: () => Promise.reject(new TypeError('no docker')), script: [{ do: 'restart' }] },
  ],
];

function all(): () => number {
  let count = 0;
  return () => {
    count += 1;
    return count;
  };
}

it.each(premises)('when %s, that is what failed', async (_, detail, options) => {
  const { failure, passed } = await explore(new Shop(), options);
  expect(passed).toBe(false);
  expect(failure).toMatchObject({ invariant: 'premise', script: [] });
  expect(failure?.detail).toMatch(detail);
});

it('ends with its signal', async () => {
  const signal = AbortSignal.abort();
  await expect(explore(new Shop(), { signal })).rejects.toMatchObject({ code: 'ABORTED' });
});

it('reports its progress', async () => {
  const ended: number[] = [];
  await explore(new Shop(), { schedules: 30, onProgress: (count) => ended.push(count) });
  expect(ended).toEqual([25, 30]);
});

it.each([
  [{ countEffects: undefined }, /^countEffects is missing; it must be a function or a URL/],
  [{ merchantPaymentReference: 'order-1' }, /must be a function that returns a reference for each/],
  [{ schedules: 1.5 }, /^schedules must be a whole number from 1 to 1000000; received 1\.5/],
  [{ seed: -1 }, /^seed must be a whole number from 0; received -1/],
  [{ restart: 'reboot' }, /^restart must be a function that restarts the endpoint/],
  [{ timeoutMs: 0 }, /^timeoutMs must be/],
  [{ shedules: 1 }, /^shedules is not a known option/],
  [{ script: 'paid' }, /^script must be an array of steps/],
  [{ script: [null] }, /^script\[0\]\.do is missing; it must be one of 'deliver'/],
  [{ script: [{ ...paid, change: 'refund' }] }, /^script\[0\]\.change must be one of 'before'/],
  [{ script: [{ do: 'drop', payment: 1, change: 'paid', atOnce: true }] }, /script\[0\]\.atOnce/],
  [{ script: [paid], seed: 1 }, /^seed can't be combined with script/],
] as const)('refuses %j', async (options, message) => {
  const wrong = exploreCallbackEndpoint('http://127.0.0.1:1/', {
    signingSecret: SECRET,
    countEffects: (_: CheckedPayment) => 0,
    ...options,
  } as never);
  await expect(wrong).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(message),
  });
});
