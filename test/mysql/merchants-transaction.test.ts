import { describe, expect, it } from 'vitest';
import { assertOpen } from '../../src/mysql/merchants-transaction.js';

const refused = (errno: number) =>
  Object.assign(new Error('refused'), { errno, sqlState: 'HY000', code: 'ER' });

/** Answers as a server that refuses these statements, by how they begin. */
function serverThat(refusals: Readonly<Record<string, number>>) {
  const asked: string[] = [];
  const ask = async (statement: string): Promise<readonly string[]> => {
    asked.push(statement.split(' ', 1)[0] ?? '');
    const [, errno] = Object.entries(refusals).find(([text]) => statement.startsWith(text)) ?? [];
    if (errno !== undefined) throw refused(errno);
    return [];
  };
  return { ask, asked };
}

describe('whether a transaction is open', () => {
  const PREPARED = 1295;

  it.each([
    ['the isolation level can be set', { SAVEPOINT: PREPARED }],
    ['the savepoint is gone at once', { RELEASE: 1305 }],
  ])('it is not if %s', async (_what, refusals) => {
    await expect(assertOpen(serverThat(refusals).ask)).rejects.toMatchObject({
      option: 'tx',
      message: expect.stringContaining('received one that has ended'),
    });
  });

  it.each([
    ['a savepoint', { SAVEPOINT: 1213 }, 1213, ['SAVEPOINT']],
    ['the isolation level', { SAVEPOINT: PREPARED, SET: 1045 }, 1045, ['SAVEPOINT', 'SET']],
  ])('is not known if %s fails for another reason', async (_what, refusals, errno, statements) => {
    const { ask, asked } = serverThat(refusals);
    await expect(assertOpen(ask)).rejects.toMatchObject({ errno });
    expect(asked).toEqual(statements);
  });
});
