import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inboxContract } from '../../../src/inbox/contract/contract.js';
import type { InboxContractSubject } from '../../../src/inbox/contract/subject.js';
import type { CallbackInbox } from '../../../src/inbox/inbox.js';
import { memoryInbox } from '../../../src/inbox/memory.js';
import { RightInbox, Store } from './right-inbox.js';

const hanging: CallbackInbox = {
  process: () => new Promise(() => {}),
  async *failedChanges() {},
  discard: async () => true,
};

function caseOf(subject: InboxContractSubject<undefined>, name: string) {
  const found = inboxContract(subject).find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case "${name}"`);
  return found;
}

afterEach(() => void vi.useRealTimers());

describe('inboxContract', () => {
  const create = () => memoryInbox();

  it('gives every case a unique name', () => {
    const names = inboxContract({ create }).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('skips the cases on crashes without loseClaim, and says why', async () => {
    const name = 'aborts the signal of a holder that has lost its event';
    const { skipped, run } = caseOf({ create }, name);
    expect(skipped).toBe('it needs loseClaim, which makes a holder appear dead');
    await expect(run()).rejects.toThrow(
      `"${name}" can't be run: it needs loseClaim, which makes a holder appear dead`,
    );
    expect(caseOf({ create, loseClaim() {} }, name).skipped).toBeUndefined();
  });

  it('skips the case on two payments at once when the store is not concurrent', () => {
    const name = 'processes a payment while another is being processed';
    expect(caseOf({ create, concurrent: false }, name).skipped).toContain('concurrent: false');
    expect(caseOf({ create }, name).skipped).toBeUndefined();
  });

  it.each([
    ['leaseMs', 'keeps an event while its work takes three leases'],
    ['waitMs', 'answers busy to a delivery that has waited for waitMs'],
  ])('skips the case that needs %s without it', (field, name) => {
    expect(caseOf({ create }, name).skipped).toContain(`it needs ${field}`);
    expect(caseOf({ create, [field]: 10 }, name).skipped).toBeUndefined();
  });

  it('skips the cases on kept failures for an inbox that keeps none, or no bodies', () => {
    const kept = 'lists a change whose work failed, with how often and why';
    const bodies =
      'keeps the last body of a failed change as received, and reads no body without a failure';
    expect(caseOf({ create }, kept).skipped).toContain('keeps no failed changes');
    expect(caseOf({ create, keepsFailures: true }, kept).skipped).toBeUndefined();
    expect(caseOf({ create, keepsBodies: true }, bodies).skipped).toContain('keeps no bodies');
    const both = { create, keepsFailures: true, keepsBodies: true };
    expect(caseOf(both, bodies).skipped).toBeUndefined();
  });

  it('says what an inbox lacks that is said to keep failures', async () => {
    const { process } = memoryInbox();
    const subject = { create: () => ({ process }), keepsFailures: true };
    const name = 'lists a change whose work failed, with how often and why';
    await expect(caseOf(subject, name).run()).rejects.toThrow(
      'must have failedChanges and discard',
    );
  });

  it('delivers no payment beside the one that is held when the store is not concurrent', async () => {
    let running = 0;
    let most = 0;
    const right = new RightInbox(new Store(), Number.POSITIVE_INFINITY);
    const counting: CallbackInbox = {
      async process(event, work) {
        running += 1;
        most = Math.max(most, running);
        return right.process(event, work).finally(() => {
          running -= 1;
        });
      },
    };
    const name = 'runs the work and answers processed when it has completed';
    await caseOf({ create: () => counting, concurrent: false }, name).run();
    expect(most).toBe(1);
    await caseOf({ create: () => counting }, name).run();
    expect(most).toBe(2);
  });

  it('takes a subject that is an instance of a class', async () => {
    class Subject implements InboxContractSubject<undefined> {
      readonly #store = new Store();
      create() {
        return new RightInbox(this.#store, 0);
      }
      loseClaim(event: Parameters<RightInbox['loseClaim']>[0]) {
        this.create().loseClaim(event);
      }
    }
    const name = 'processes an event on another inbox after its holder died';
    await caseOf(new Subject(), name).run();
  });

  const everything = {
    loseClaim() {},
    leaseMs: 1,
    waitMs: 1,
    keepsFailures: true,
    keepsBodies: true,
  };

  it.each(inboxContract({ create, ...everything }).map(({ name }) => name))(
    'ends "%s" on a store that hangs',
    async (name) => {
      const subject = { create: () => hanging, ...everything, timeoutMs: 10 };
      await expect(caseOf(subject, name).run()).rejects.toThrow(
        `"${name}" has not ended after 10 ms`,
      );
    },
  );

  it('says what was wrong first when the store hangs as well', async () => {
    let calls = 0;
    const wrong: CallbackInbox = {
      process: () => {
        calls += 1;
        return calls === 1
          ? Promise.resolve('stale')
          : hanging.process({} as never, async () => {});
      },
    };
    const name = 'runs the work of only one of 50 concurrent deliveries';
    const subject = { create: () => wrong, timeoutMs: 10 };
    await expect(caseOf(subject, name).run()).rejects.toThrow("but answered 'stale'");
  });

  it('ends all work it holds when a case fails', async () => {
    let running = 0;
    const wrong: CallbackInbox<undefined> = {
      async process(_, work) {
        running += 1;
        await work({ tx: undefined, signal: AbortSignal.abort(), stale: false });
        await nextTurn();
        running -= 1;
        return 'processed';
      },
    };
    const { run } = caseOf({ create: () => wrong }, 'passes the work a signal that is not aborted');
    await expect(run()).rejects.toThrow('is aborted though nothing was lost');
    expect(running).toBe(0);
  });

  it.each([
    ['passes', 'processed'],
    ['fails', 'stale'],
  ] as const)('leaves no timer when a case %s', async (_, outcome) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const inbox: CallbackInbox = {
      async process(_event, work) {
        await work({ tx: undefined, signal: new AbortController().signal, stale: false });
        return outcome;
      },
    };
    const { run } = caseOf({ create: () => inbox }, 'passes the work a signal that is not aborted');
    await run().catch(() => undefined);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('passes a store that knows a later change of the one reference that is not random', async () => {
    const store = new Store();
    store.watermarks.set('__proto__', Number.POSITIVE_INFINITY);
    const name = 'accepts a reference that is a property of every object';
    await caseOf({ create: () => new RightInbox(store, 0) }, name).run();
  });

  it('lets work fail with an error that says that it is meant to, for stores that log it', async () => {
    const logged: unknown[] = [];
    const right = new RightInbox(new Store(), 0);
    const logging: CallbackInbox = {
      process: (event, work) =>
        right.process(event, (context) =>
          work(context).catch((error) => {
            logged.push(error);
            throw error;
          }),
        ),
    };
    await caseOf(
      { create: () => logging },
      'runs an older change after a newer one has failed',
    ).run();
    expect(logged).toEqual([new Error('The work failed, as this case intends')]);
  });

  it('fails when create does', async () => {
    const create = () => Promise.reject(new Error('no database'));
    for (const { skipped, run } of inboxContract({ create })) {
      if (!skipped) await expect(run()).rejects.toThrow('no database');
    }
  });

  it.each([
    ['options', undefined, 'options is missing; it must be an object with create'],
    ['create', {}, 'create is missing; it must be a function that returns an inbox'],
    ['loseClaim', { create, loseClaim: true }, 'loseClaim must be a function that takes an event'],
    ['concurrent', { create, concurrent: 'no' }, 'concurrent must be true or false'],
    ['leaseMs', { create, leaseMs: 0 }, 'leaseMs must be a whole number of milliseconds from 1'],
    ['leaseMs', { create, leaseMs: 26, timeoutMs: 100 }, 'from 1 to 25; received 26'],
    ['waitMs', { create, waitMs: -1 }, 'waitMs must be a whole number of milliseconds from 0'],
    ['waitMs', { create, waitMs: 26, timeoutMs: 100 }, 'from 0 to 25; received 26'],
    ['wait', { create, wait: 0 }, 'wait is not a known option; use waitMs'],
    ['timeoutMs', { create, timeoutMs: 0 }, 'timeoutMs must be a whole number of milliseconds'],
  ])('refuses a wrong %s', (option, subject, message) => {
    expect(() => inboxContract(subject as never)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });
});
