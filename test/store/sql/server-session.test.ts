import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/errors.js';
import { failures } from '../../../src/postgres/failures.js';
import { ServerSession } from '../../../src/store/sql/server-session.js';
import type { Step } from '../../../src/store/sql/session.js';
import type { StoreServer } from '../../../src/store/sql/transactions.js';

const answered = (message: string, code: string) => Object.assign(new Error(message), { code });
const dead = answered('dead', '57P01');
const deadlock = answered('deadlock', '40P01');
const broken = answered('broken', '53100');
const lost = new StoreError('TRANSACTION_LOST', 'lost', { cause: broken });
const explained = (cause: Error) =>
  expect.objectContaining({
    code: 'STORE_FAILED',
    cause: expect.objectContaining({ message: cause.message }),
  });

const TIMEOUTS = {
  acquireTimeoutMs: 1,
  lockTimeoutMs: 2,
  commandTimeoutMs: 1_001,
  transactionTimeoutMs: 3,
  idleTimeoutMs: 4,
};

/** A session on connections of which each call answers as told by the next of these. */
function open(...answers: unknown[]) {
  const take = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const begin = vi.fn(async () => []);
  const ask = vi.fn(async (statement: string) => [`${statement}?`]);
  const connections = {
    isSingle: false,
    read: vi.fn(take),
    change: vi.fn(take),
    run: vi.fn(async (body: (transaction: object) => Promise<{ result: unknown }>) => {
      const answer = answers.shift();
      if (answer === dead) throw dead;
      const { result } = await body({ begin, ask });
      if (answer instanceof Error) throw answer;
      return result;
    }),
    runIn: vi.fn((_tx: string, body: (asking: typeof ask) => Promise<unknown>) => body(ask)),
  };
  const server = {
    connections,
    failures: {
      explain: (error: unknown) => failures.explain(error),
      noStepInTime: failures.noStepInTime,
      isUndone: (error: unknown) => error === deadlock,
      isLost: (error: unknown) => error === dead,
    },
    setup: take,
    cancel: (owner: string, read: (statement: string) => unknown) => read(`cancel ${owner}`),
  };
  const session = new ServerSession(server as unknown as StoreServer<string>, TIMEOUTS);
  return { session, connections, begin };
}

function* step(): Step<string> {
  const [answer] = yield 'one';
  return `${answer} ${yield 'two'}`;
}

describe('a step', () => {
  it('asks one statement after another, for most of the time in which it must end', async () => {
    const { session, begin } = open();
    expect(await session.run(step)).toBe('one? two?');
    expect(begin).toHaveBeenCalledExactlyOnceWith({ ...TIMEOUTS, lockTimeoutMs: 901 }, []);
  });

  it('runs again after a deadlock, ten times at most', async () => {
    const { session, connections } = open(...Array(9).fill(deadlock));
    expect(await session.run(step)).toBe('one? two?');
    expect(connections.run).toHaveBeenCalledTimes(10);
    const stuck = open(...Array(10).fill(deadlock));
    await expect(stuck.session.run(step)).rejects.toEqual(explained(deadlock));
    expect(stuck.connections.run).toHaveBeenCalledTimes(10);
  });

  it('runs once more if its connection was dead before it began', async () => {
    const { session, connections } = open(dead);
    expect(await session.run(step)).toBe('one? two?');
    expect(connections.run).toHaveBeenCalledTimes(2);
    await expect(open(dead, dead).session.run(step)).rejects.toEqual(explained(dead));
  });

  it('runs once if anything else fails', async () => {
    const { session, connections } = open(broken);
    await expect(session.run(step)).rejects.toEqual(explained(broken));
    expect(connections.run).toHaveBeenCalledOnce();
  });

  it('runs in a transaction that is not its own', async () => {
    const { session, connections } = open();
    expect(await session.runIn('tx', step)).toBe('one? two?');
    expect(connections.runIn).toHaveBeenCalledExactlyOnceWith('tx', expect.any(Function));
    connections.runIn.mockRejectedValueOnce(broken);
    await expect(session.runIn('tx', step)).rejects.toEqual(explained(broken));
  });
});

describe('a single statement', () => {
  it('is read once more if its connection was dead', async () => {
    expect(await open(dead, ['row']).session.read('read')).toEqual(['row']);
    await expect(open(dead, dead).session.read('read')).rejects.toEqual(explained(dead));
    const { session, connections } = open(broken);
    await expect(session.read('read')).rejects.toEqual(explained(broken));
    expect(connections.read).toHaveBeenCalledOnce();
  });

  it.each([
    ['whether it changed a row', [true], true],
    ['whether it changed a row', [false], false],
    ['that only a step can tell', [deadlock], undefined],
    ['that it changed a row', [dead, true], true],
    ['that only a step can tell whether the lost one did', [dead, false], undefined],
  ])('says %s: %o', async (_, answers, changed) => {
    expect(await open(...answers).session.change(() => 'change', undefined)).toBe(changed);
  });

  it('that changes is marked with its owner and its session, if it has an owner', async () => {
    const { session, connections } = open(true, true);
    const statement = (mark: string) => `${mark}INSERT`;
    await session.change(statement, 'owner');
    await session.change(statement, undefined);
    const texts = connections.change.mock.calls.map(([text]: unknown[]) =>
      (text as (id: number) => string)(7),
    );
    expect(texts).toEqual(['/* owner 7 */ INSERT', 'INSERT']);
    await session.cancel('owner');
    expect(connections.read).toHaveBeenCalledExactlyOnceWith('cancel owner');
  });

  it('that was lost twice without being sent again rejects with the first loss, whose outcome is open', async () => {
    const second = failures.noConnectionInTime(1);
    const { session } = open(dead, second);
    await expect(session.change(() => 'change', undefined)).rejects.toEqual(explained(dead));
  });
});

it('what is said of a loss is not about a callback’s work', async () => {
  const error = await open(lost)
    .session.setup()
    .catch((thrown) => thrown);
  expect(error).toEqual(explained(broken));
});
