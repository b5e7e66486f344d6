import { describe, expect, it } from 'vitest';
import { failures } from '../../src/mysql/failures.js';
import type { MysqlQueryable } from '../../src/mysql/pool.js';
import { asRows, send } from '../../src/mysql/rows.js';

const header = { affectedRows: 0, serverStatus: 2 };

describe('what the driver answers', () => {
  it.each([
    ['a statement without rows', header, []],
    ['no rows', [], []],
    ['rows as arrays', [['a'], ['b']], ['a', 'b']],
    ['rows as objects', [{ name: 'a' }, { name: 'b' }], ['a', 'b']],
  ])('to %s is read', (_, given, texts) => {
    expect(failures.textsOf(asRows(given))).toEqual(texts);
  });
});

/** What the driver is given for a statement on a connection of a pool with such a configuration. */
async function sentWith(config: object | undefined): Promise<unknown> {
  let sent: unknown;
  const connection = {
    config,
    query(query: unknown, answered: (error: unknown, given: unknown) => void) {
      sent = query;
      answered(null, header);
    },
  };
  await send({ connection } as unknown as MysqlQueryable, 'SELECT 1');
  return sent;
}

describe('a statement', () => {
  it('is sent without options if the pool returns texts unchanged', async () => {
    expect(await sentWith({ typeCast: true })).toBe('SELECT 1');
    expect(await sentWith({ typeCast: true, rowsAsArray: true })).toBe('SELECT 1');
  });

  it.each([
    ['typeCast is a function', { typeCast: () => 'cast' }],
    ['typeCast is off', { typeCast: false }],
    ['columns are grouped by table', { typeCast: true, nestTables: true }],
    ['columns are named with their table', { typeCast: true, nestTables: '_' }],
    ['the configuration is not known', undefined],
  ])('says how its rows are read where %s', async (_, config) => {
    expect(await sentWith(config)).toMatchObject({
      sql: 'SELECT 1',
      rowsAsArray: true,
      nestTables: false,
      typeCast: expect.any(Function),
    });
  });

  it("without callbacks sets the options too, and rejects with the driver's error", async () => {
    const failure = new Error('it failed');
    const tx: MysqlQueryable = {
      async query(options) {
        expect(options).toMatchObject({ sql: 'SELECT 1', rowsAsArray: true });
        throw failure;
      },
    };
    await expect(send(tx, 'SELECT 1')).rejects.toBe(failure);
  });
});
