import type { PGlite, Transaction } from '@electric-sql/pglite';
import pg from 'pg';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { postgresStore, type Queryable } from '../../src/postgres/index.js';
import type { CallbackStore, PaymentStore } from '../../src/store/index.js';
import { unusedClient } from '../store/unused-client.js';

const pool = new pg.Pool();
type TxOf<Store> = Store extends CallbackStore<infer Tx> ? Tx : never;

describe('the transaction', () => {
  it('of pg and of PGlite are queryable', () => {
    expectTypeOf<pg.PoolClient>().toExtend<Queryable>();
    expectTypeOf<Transaction>().toExtend<Queryable>();
    expectTypeOf<pg.Pool>().toExtend<Queryable>();
    expectTypeOf<PGlite>().toExtend<Queryable>();
    expectTypeOf<{ query(text: string): Promise<void> }>().not.toExtend<Queryable>();
  });
});

describe('postgresStore', () => {
  it('takes a pool of pg, whose client is its tx', () => {
    expectTypeOf(postgresStore(pool)).toEqualTypeOf<Required<CallbackStore<pg.PoolClient>>>();
  });

  it('creates payments only with a client', () => {
    const options = { client: unusedClient };
    expectTypeOf(postgresStore(pool, options)).toEqualTypeOf<PaymentStore<pg.PoolClient>>();
    const typed = postgresStore<pg.PoolClient>(pool, options);
    expectTypeOf(typed).toEqualTypeOf<PaymentStore<pg.PoolClient>>();
  });

  it('takes a PGlite, whose transaction is its tx', () => {
    const open = (database: PGlite) => postgresStore(database);
    expectTypeOf<TxOf<ReturnType<typeof open>>>().toEqualTypeOf<Transaction>();
    expect(open).toBeTypeOf('function');
  });

  it('takes the client of any other pool', () => {
    type Client = pg.PoolClient & { own: true };
    const ofPromise = (one: { connect(): Promise<Client> }) => postgresStore(one);
    expectTypeOf<TxOf<ReturnType<typeof ofPromise>>>().toEqualTypeOf<Client>();
    class TypedPool extends pg.Pool {}
    const ofSubclass = (one: TypedPool) => postgresStore(one);
    expectTypeOf<TxOf<ReturnType<typeof ofSubclass>>>().toEqualTypeOf<pg.PoolClient>();
    expect([ofPromise, ofSubclass]).toHaveLength(2);
  });

  it('takes the type of tx that one names', () => {
    const typed = postgresStore<pg.PoolClient>(pool);
    expectTypeOf<TxOf<typeof typed>>().toEqualTypeOf<pg.PoolClient>();
    const ofPglite = (database: PGlite) => postgresStore<Transaction>(database);
    expectTypeOf<TxOf<ReturnType<typeof ofPglite>>>().toEqualTypeOf<Transaction>();
    // @ts-expect-error a PGlite has no client of pg to give
    const wrong = (database: PGlite) => postgresStore<pg.PoolClient>(database);
    // @ts-expect-error a pool of pg has no transaction of PGlite to give
    expect(() => postgresStore<Transaction>(pool)).not.toThrow();
    expect([ofPglite, wrong]).toHaveLength(2);
  });
});
