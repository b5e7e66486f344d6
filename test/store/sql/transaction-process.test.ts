import { describe, expect, it, vi } from 'vitest';
import { RetryLaterError, StoreError } from '../../../src/errors.js';
import { readChange } from '../../../src/store/change.js';
import type { FailurePolicy } from '../../../src/store/failure.js';
import { databaseForms } from '../../../src/store/sql/stored-forms.js';
import { deferred } from '../../postgres/change.js';
import { changeOf } from '../orders.js';
import {
  busy,
  type Column,
  dead,
  NEW_ORDER,
  type Script,
  ScriptedServer,
  UNRESOLVED,
} from './scripted-connections.js';

const broken = new Error('broken');
const lost = new StoreError('TRANSACTION_LOST', 'lost');
const failures = { onParked: vi.fn(), onNotKept: vi.fn() } satisfies FailurePolicy;
/** An order that has the payment's record already, or a newer one. */
const KNOWN: readonly Column[] = [
  'order',
  'elsewhere',
  'payment-1',
  '{}',
  2 ** 52,
  null,
  '',
  null,
  null,
];
const PROCESSED = ['change', 'change-1', '0'];
const FAILED = ['failure', 1, 0];
const PARKED = ['failure', 2, 1];

function read(fields: Parameters<typeof changeOf>[0] = {}) {
  failures.onParked.mockReset();
  failures.onNotKept.mockReset();
  const policy = { ...failures, ...fields.failures };
  return readChange(changeOf({ ...fields, failures: policy }), databaseForms);
}

const done = async () => undefined;
const failing = async () => {
  throw broken;
};

/** Loses its transaction while the work runs. */
function losing(error: Error = lost) {
  const loss = deferred<never>();
  loss.promise.catch(() => undefined);
  const work = () => {
    loss.reject(error);
    return new Promise<never>(() => undefined);
  };
  return { loss: loss.promise, work };
}

const explained = (cause: unknown) => expect.objectContaining({ message: 'explained', cause });

describe('a change', () => {
  it.each<[string, Script, string]>([
    ['of an order that was not known', {}, 'record, settle'],
    ['of an unresolved payment', { seen: [UNRESOLVED] }, 'record, settle'],
    ['that had failed', { seen: [NEW_ORDER, FAILED] }, 'record, settle, forget'],
    [
      'of a second payment',
      { seen: [['order', 'created', 'PAY-2', '{}', 1, null, '', null, null]] },
      'record, list',
    ],
  ])('%s is recorded in the transaction of its work', async (_, script, ended) => {
    const server = new ScriptedServer([script]);
    const seen: unknown[] = [];
    const work = async ({ tx }: { tx: string }) => void seen.push(tx);
    expect(await server.process.process(read(), work)).toBe('processed');
    expect(seen).toEqual(['tx 0']);
    expect(server.ended).toEqual([ended]);
  });

  it.each<[Script, string]>([
    [{ seen: [KNOWN, PROCESSED] }, 'rollback'],
    [{ seen: [NEW_ORDER, PROCESSED] }, 'undo, settle'],
    [{ seen: [UNRESOLVED, PROCESSED] }, 'undo, settle'],
  ])(
    'that is a duplicate at %o writes what it says of its payment alone',
    async (script, ended) => {
      const server = new ScriptedServer([script]);
      const work = vi.fn(done);
      expect(await server.process.process(read(), work)).toBe('duplicate');
      expect(work).not.toHaveBeenCalled();
      expect(server.ended).toEqual([ended]);
    },
  );

  it('is busy while another transaction holds its order', async () => {
    const server = new ScriptedServer([{ claimError: busy }]);
    expect(await server.process.process(read(), done)).toBe('busy');
    expect(server.ended).toEqual(['rollback']);
  });

  it('has the time that its claim has waited', async () => {
    const isBusy = vi.fn(() => true);
    const server = new ScriptedServer([{ claimError: broken }], { isBusy });
    expect(await server.process.process(read(), done)).toBe('busy');
    const waitedMs = expect.any(Number);
    expect(isBusy).toHaveBeenCalledExactlyOnceWith(broken, { waitedMs, lockTimeoutMs: 60_000 });
  });
});

describe('a claim that fails', () => {
  it('rejects, and keeps nothing: no work has run', async () => {
    const server = new ScriptedServer([{ claimError: broken }]);
    await expect(server.process.process(read(), done)).rejects.toEqual(explained(broken));
    expect(server.ended).toEqual(['lost']);
    expect(failures.onNotKept).not.toHaveBeenCalled();
  });

  it('rejects when its statement was cancelled early', async () => {
    const cancelled = new StoreError('STORE_FAILED', 'cancelled');
    const isBusy = () => {
      throw cancelled;
    };
    const server = new ScriptedServer([{ claimError: broken }], { isBusy });
    await expect(server.process.process(read(), done)).rejects.toEqual(explained(cancelled));
  });

  it('is tried once more on another connection when the first one was dead', async () => {
    const server = new ScriptedServer([{ claimError: dead }, {}]);
    expect(await server.process.process(read(), done)).toBe('processed');
    expect(server.ended).toEqual(['lost', 'record, settle']);
  });

  it('rejects when the second connection is dead too', async () => {
    const server = new ScriptedServer([{ claimError: dead }, { claimError: dead }]);
    await expect(server.process.process(read(), done)).rejects.toEqual(explained(dead));
  });

  it('rejects with what the server answers that no version knows', async () => {
    const server = new ScriptedServer([{ seen: [['refunded']] }]);
    const unknown = expect.objectContaining({ code: 'STORE_FAILED' });
    await expect(server.process.process(read(), done)).rejects.toEqual(explained(unknown));
  });
});

describe('work that fails', () => {
  it.each<[string, Script, string]>([
    ['its failure', { seen: [KNOWN] }, 'undo, keep'],
    ['its failure and its payment', { seen: [UNRESOLVED] }, 'undo, settle, keep'],
  ])('keeps %s in the transaction of its claim', async (_, script, ended) => {
    const server = new ScriptedServer([script]);
    await expect(server.process.process(read(), failing)).rejects.toBe(broken);
    expect(server.ended).toEqual([ended]);
  });

  it.each<[string, Script, string]>([
    ['nothing', { seen: [KNOWN] }, 'rollback'],
    ['its payment', { seen: [UNRESOLVED] }, 'undo, settle'],
  ])('keeps %s if it is to be retried later', async (_, script, ended) => {
    const server = new ScriptedServer([script]);
    const later = new RetryLaterError();
    await expect(server.process.process(read(), () => Promise.reject(later))).rejects.toBe(later);
    expect(server.ended).toEqual([ended]);
  });

  it('parks its change after enough failures, and says so once that is stored', async () => {
    const server = new ScriptedServer([{ seen: [KNOWN, FAILED] }]);
    const change = read({ failures: { parkAfter: 2 } });
    failures.onParked.mockImplementation(() => expect(server.ended).toEqual(['undo, keep']));
    await expect(server.process.process(change, failing)).rejects.toBe(broken);
    expect(failures.onParked).toHaveBeenCalledExactlyOnceWith(2);
  });
});

describe('a transaction that is lost', () => {
  it('has its failure kept in another one, and rejects with why it was lost', async () => {
    const { loss, work } = losing();
    const server = new ScriptedServer([{ loss }, { seen: [KNOWN] }]);
    const change = read({ failures: { parkAfter: 1 } });
    await expect(server.process.process(change, work)).rejects.toEqual(explained(lost));
    expect(server.ended).toEqual(['lost', 'undo, keep']);
    expect(failures.onParked).toHaveBeenCalledExactlyOnceWith(1);
    expect(failures.onNotKept).not.toHaveBeenCalled();
  });

  it('is not tried again, though its connection was dead: the work had begun', async () => {
    const { loss, work } = losing(dead);
    const server = new ScriptedServer([{ loss }, { seen: [KNOWN] }]);
    await expect(server.process.process(read(), work)).rejects.toEqual(explained(dead));
    expect(server.ended).toEqual(['lost', 'undo, keep']);
  });

  it('at its end counts as a failure of the work, whose writes are gone', async () => {
    const server = new ScriptedServer([
      { seen: [UNRESOLVED], endError: broken },
      { seen: [UNRESOLVED] },
    ]);
    await expect(server.process.process(read(), done)).rejects.toEqual(explained(broken));
    expect(server.ended).toEqual(['lost', 'undo, settle, keep']);
  });

  it('after its work has failed rejects with the error of the work', async () => {
    const server = new ScriptedServer([{ endError: lost }, { seen: [KNOWN] }]);
    await expect(server.process.process(read(), failing)).rejects.toBe(broken);
    expect(server.ended).toEqual(['lost', 'undo, keep']);
  });

  it('counts with what was kept since', async () => {
    const server = new ScriptedServer([{ endError: lost }, { seen: [KNOWN, FAILED.with(1, 6)] }]);
    const change = read({ failures: { parkAfter: 7 } });
    await expect(server.process.process(change, failing)).rejects.toBe(broken);
    expect(failures.onParked).toHaveBeenCalledExactlyOnceWith(7);
  });

  it('counts though the change was parked since: its work has run', async () => {
    const server = new ScriptedServer([{ endError: lost }, { seen: [KNOWN, PARKED] }]);
    await expect(server.process.process(read(), failing)).rejects.toBe(broken);
    expect(server.ended).toEqual(['lost', 'undo, keep']);
  });

  it('keeps nothing of a change that another process has processed since', async () => {
    const server = new ScriptedServer([{ endError: lost }, { seen: [KNOWN, PROCESSED] }]);
    await expect(server.process.process(read(), failing)).rejects.toBe(broken);
    expect(server.ended).toEqual(['lost', 'rollback']);
    expect(failures.onNotKept).not.toHaveBeenCalled();
  });

  it('needs no other one if there is nothing to keep', async () => {
    const { loss, work } = losing(new RetryLaterError());
    const server = new ScriptedServer([{ seen: [KNOWN], loss }], { explain: (error) => error });
    await expect(server.process.process(read(), work)).rejects.toBeInstanceOf(RetryLaterError);
    expect(server.ended).toEqual(['lost']);
    expect(failures.onNotKept).not.toHaveBeenCalled();
  });

  it('has its payment settled in another one, though its work is to be retried later', async () => {
    const server = new ScriptedServer([
      { seen: [UNRESOLVED], endError: lost },
      { seen: [UNRESOLVED] },
    ]);
    const later = new RetryLaterError();
    await expect(server.process.process(read(), () => Promise.reject(later))).rejects.toBe(later);
    expect(server.ended).toEqual(['lost', 'undo, settle']);
  });

  it.each<[string, Script, unknown]>([
    [
      'another one holds the order',
      { claimError: busy },
      new Error('another transaction holds the order'),
    ],
    ['the other one can’t begin', { claimError: dead }, dead],
    ['the other one can’t end', { endError: broken }, broken],
  ])('is reported once when %s', async (_, script, cause) => {
    const server = new ScriptedServer([{ endError: lost }, script]);
    const change = read({ failures: { parkAfter: 1 } });
    await expect(server.process.process(change, failing)).rejects.toBe(broken);
    expect(failures.onNotKept).toHaveBeenCalledExactlyOnceWith(explained(cause));
    expect(failures.onParked).not.toHaveBeenCalled();
  });

  it('rejects with the error of the work though the policy throws', async () => {
    const server = new ScriptedServer([{ endError: lost }, { claimError: dead }]);
    const change = read();
    failures.onNotKept.mockImplementationOnce(() => {
      throw new Error('no log');
    });
    await expect(server.process.process(change, failing)).rejects.toBe(broken);
  });
});

describe('a change that is parked', () => {
  const parked = expect.objectContaining({ code: 'CHANGE_PARKED' });

  it.each<[Script, string]>([
    [{ seen: [KNOWN, PARKED] }, 'rollback'],
    [{ seen: [UNRESOLVED, PARKED] }, 'undo, settle'],
  ])('at %o is not run, and writes what it says of its payment alone', async (script, ended) => {
    const server = new ScriptedServer([script]);
    const work = vi.fn(done);
    await expect(server.process.process(read(), work)).rejects.toEqual(parked);
    expect(work).not.toHaveBeenCalled();
    expect(server.ended).toEqual([ended]);
  });

  it('rejects with the store’s error when that could not be stored: nobody else has it', async () => {
    const script = { seen: [UNRESOLVED, PARKED], endError: broken };
    const server = new ScriptedServer([script]);
    const call = server.process.process(read(), done);
    await expect(call).rejects.toMatchObject({ message: 'explained' });
    expect(failures.onNotKept).not.toHaveBeenCalled();
  });
});

describe('a change that this process has processed', () => {
  const rows = (...seen: readonly (readonly Column[])[]) => seen.map((row) => JSON.stringify(row));
  const processed = async (more: ConstructorParameters<typeof ScriptedServer>[1] = {}) => {
    const server = new ScriptedServer([{}, { seen: [KNOWN, PROCESSED] }], more);
    await server.process.process(read(), done);
    expect(server.read).not.toHaveBeenCalled();
    return server;
  };

  it('is a duplicate without a transaction', async () => {
    const server = await processed();
    server.read.mockResolvedValueOnce(rows(KNOWN, PROCESSED));
    expect(await server.process.process(read(), failing)).toBe('duplicate');
    expect(server.transactions).toBe(1);
  });

  it.each<[string, () => Promise<string[]>]>([
    ['says something new about its payment', async () => rows(UNRESOLVED, PROCESSED)],
    [
      'is of an order that has another payment',
      async () => rows(['order', 'created', 'PAY-2', '{}', 1, null, '', null, null], PROCESSED),
    ],
    ['is not known any more', async () => rows(KNOWN)],
    ['has no order any more', async () => []],
    ['can’t be read', () => Promise.reject(dead)],
    ['is unknown', async () => ['{}']],
  ])('is decided in a transaction if it %s', async (_, answer) => {
    const server = await processed();
    server.read.mockImplementationOnce(answer);
    expect(await server.process.process(read(), failing)).toBe('duplicate');
    expect(server.ended).toEqual(['record, settle', 'rollback']);
  });

  it('is decided in a transaction if a SELECT could see what is not committed', async () => {
    const server = await processed({ readsCommitted: false });
    expect(await server.process.process(read(), failing)).toBe('duplicate');
    expect(server.read).not.toHaveBeenCalled();
    expect(server.transactions).toBe(2);
  });

  it('is forgotten after a thousand others', async () => {
    const server = new ScriptedServer(Array.from({ length: 1_002 }, () => ({})));
    for (let at = 0; at <= 1_000; at += 1) {
      await server.process.process(read({ key: `change-${at}` }), done);
    }
    await server.process.process(read({ key: 'change-0' }), done);
    expect(server.read).not.toHaveBeenCalled();
    server.read.mockResolvedValueOnce(rows(KNOWN, ['change', 'change-2', '0']));
    expect(await server.process.process(read({ key: 'change-2' }), failing)).toBe('duplicate');
  });
});

describe('an order that is expected', () => {
  it('is locked without being made', async () => {
    const server = new ScriptedServer([{ seen: [UNRESOLVED] }], { expectsOrders: true });
    expect(await server.process.process(read(), done)).toBe('processed');
    expect(server.ended).toEqual(['record, settle']);
    expect(server.claims).toEqual([expect.stringMatching(/^SELECT .* FOR UPDATE$/)]);
  });

  it('is made in another transaction if there is none', async () => {
    const server = new ScriptedServer([{ seen: [] }, {}], { expectsOrders: true });
    expect(await server.process.process(read(), done)).toBe('processed');
    expect(server.ended).toEqual(['rollback', 'record, settle']);
    expect(server.claims[1]).toMatch(/^INSERT INTO "payments"/);
  });

  it('is not expected again before one is found that the store has created', async () => {
    const scripts = [{ seen: [] }, {}, {}, { seen: [UNRESOLVED] }, { seen: [UNRESOLVED] }];
    const server = new ScriptedServer(scripts, { expectsOrders: true });
    for (const key of ['1', '2', '3', '4']) await server.process.process(read({ key }), done);
    const words = server.claims.map((claim) => claim.split(' ')[0]);
    expect(words).toEqual(['SELECT', 'INSERT', 'INSERT', 'INSERT', 'SELECT']);
  });

  it('is refused when it was made, and is hidden', async () => {
    const server = new ScriptedServer([{ seen: [] }, { seen: [] }], { expectsOrders: true });
    const unknown = expect.objectContaining({ code: 'STORE_FAILED' });
    await expect(server.process.process(read(), done)).rejects.toEqual(explained(unknown));
  });
});

describe('deliveries of one process', () => {
  const limits = { lockTimeoutMs: 5, commandTimeoutMs: 60_000, idleTimeoutMs: 60_000 };
  const held = () => {
    const { promise, resolve } = deferred<void>();
    return { work: () => promise, end: () => resolve() };
  };

  it.each([
    ['of one change', false, 'change-1', 'busy'],
    ['of one order on a single connection', true, 'change-2', 'busy'],
    ['of different changes on several connections', false, 'change-2', 'processed'],
  ])('%s: %s, %s, the second one is %s', async (_, isSingle, key, outcome) => {
    const server = new ScriptedServer([{}, {}], { isSingle, limits });
    const { work, end } = held();
    const first = server.process.process(read(), work);
    expect(await server.process.process(read({ key }), done)).toBe(outcome);
    end();
    expect(await first).toBe('processed');
    expect(server.transactions).toBe(outcome === 'busy' ? 1 : 2);
  });
});
