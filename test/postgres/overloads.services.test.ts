import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import type { StatusChange } from '../../src/store/callback-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { fromDrizzle } from '../../src/store/providers/drizzle.js';
import { ContractService } from '../contract/store/service.js';
import { useEmptySchema } from '../services/postgres-schema.js';
import { change, collect, nothing, order } from './change.js';
import { recordMessages } from './recorded-messages.js';
import { useRoles } from './roles.js';

const schema = 'mp_overloads';
const application = 'mp_overloads_app';
const attacker = 'mp_overloads_attacker';
const { openPool, observer } = useEmptySchema(schema);
// Where the attacker can make nothing.
const safe = openPool({ options: '-c search_path=pg_catalog' });

type Message = readonly [string, ...unknown[]];
type Database = Parameters<typeof postgresStore>[0];

/** Everything that a store does, in tables with this prefix. Resolves with what has come of it. */
async function useAll(database: Database, prefix: string, transact: Transact): Promise<Message[]> {
  const service = new ContractService();
  const store = postgresStore(database, {
    client: service.client,
    prefix,
  }) as PaymentStore<unknown>;
  const seen: Message[] = [];
  const note = async (name: string, act: Promise<unknown>) =>
    void seen.push([name, await act.catch(({ code, message }) => code ?? message)]);
  const fail = () => Promise.reject(new Error('out of stock'));
  const process = (name: string, event: StatusChange, work = nothing) =>
    note(name, store.process(event, work));
  const state = async (reference: string) => (await store.get(reference))?.state;

  await note('setup', store.setup());
  await note('setup again', store.setup());
  await process('new', change('order', 2));
  await process('duplicate', change('order', 2));
  await process('older', change('order', 1));
  const failures = { parkAfter: 2, getRawBody: () => new Uint8Array([1]) };
  for (const attempt of [1, 2, 3]) {
    await process(`failed ${attempt}`, change('failed', 1, { failures }), fail);
  }
  const replayed = change('failed', 1, { failures: { ...failures, runParked: true } });
  await process('replayed', replayed);
  const paid = { status: 'paid', referenceNumber: 'another' };
  await process('paid', change('order', 3, { status: 'paid' }));
  await process('paid twice', change('order', 3, { ...paid, key: 'other' }));
  await process('paid twice, newer', change('order', 4, { ...paid, key: 'newer' }));

  await note(
    'create',
    store.create(order('created')).then((created) => created.state),
  );
  await note(
    'again',
    store.create(order('created')).then((created) => created.replayed),
  );
  const other = { ...order('created'), amount: 1 };
  await note('conflict', store.create(other));
  service.answer('rejected', 422);
  await note('rejected', store.create(order('rejected')));
  service.answer('lost', 'answer-lost');
  await note(
    'lost',
    store.create(order('lost')).then((created) => created.state),
  );
  const listed = { merchantPaymentReference: 'lost', attempts: 1, listedAt: new Date() };
  await note('too early', store.markNotCreated(listed));
  await note('found', store.markCreated('lost', { referenceNumber: 'found' }));
  for (const reference of ['sent', 'recovered']) {
    await note(
      'record',
      transact((tx) => store.record(order(reference), { tx })),
    );
  }
  await note(
    'send',
    store.send('sent').then((sent) => sent.state),
  );
  await note(
    'recover',
    store.recover().then(({ resent }) => resent),
  );
  await note('settle', store.process(change('recovered', 1, { status: 'paid' }), nothing));
  seen.push(['states', await state('lost'), await state('sent'), await state('recovered')]);

  await safe.query(`INSERT INTO ${schema}.${prefix}failed_changes
      SELECT 'many', 'many', n, '["many","many","many"]', n, 1, n, n, 0, '{"name":"","message":""}', NULL
      FROM generate_series(1, 150) n;
    INSERT INTO ${schema}.${prefix}second_payments
      SELECT 'many', n, '{}', n, n FROM generate_series(1, 150) n`);
  await safe.query(`INSERT INTO ${schema}.${prefix}payments
      (merchant_payment_reference, body, digest, state, attempts, recorded_at_ms, sent_at_ms, changed_at_ms, lease_until_ms)
    SELECT state || n, '{"merchantPaymentReference":"many","amount":1,"currency":"EUR"}', '', state, 1, 0, n, n, n
      FROM generate_series(1, 150) n, unnest(ARRAY['unresolved', 'sending', 'unheard']) state`);
  const items = await collect(store.attention({ olderThanMs: 1 }));
  const kinds = ['unresolved', 'second-payment', 'failed-change', 'no-callback'] as const;
  const ofKind = (wanted: string) => items.filter(({ kind }) => kind === wanted);
  seen.push(['attention', ...kinds.map((kind) => ofKind(kind).length)]);
  const { referenceNumber } = change('failed').payment;
  seen.push(['of one', (await collect(store.attention({ referenceNumber }))).length]);
  for (const kind of kinds.slice(1)) {
    await note(`discard a ${kind}`, store.discard(ofKind(kind)[0] as never));
  }
  await note('prune', store.prune(new Date(1_000)));
  await note('prune all', store.prune(new Date(Date.now() + 60_000)));

  // A claim that has given up waiting is cancelled.
  const hurried = postgresStore(database, {
    ...{ client: service.client, prefix, commandTimeoutMs: 50, acquireTimeoutMs: 2_000 },
  }) as PaymentStore<unknown>;
  await transact(async (tx) => {
    await store.record(order('held'), { tx });
    await note('given up', hurried.create(order('held')));
  });
  return seen;
}

type Transact = (body: (tx: unknown) => Promise<void>) => Promise<void>;

/** The names of all functions that the statements call, and whether each call is qualified. */
function callsIn(statements: readonly string[]) {
  const names = new Set<string>();
  const unqualified = new Set<string>();
  for (const statement of statements) {
    const plain = statement.replaceAll(/E?'(?:[^']|'')*'|"[^"]*"|--.*/g, ' x ');
    for (const [, schemaName, name = ''] of plain.matchAll(/(pg_catalog\.)?\b([a-z_]+)\s*\(/gi)) {
      if (KEYWORDS.has(name.toUpperCase())) continue;
      names.add(name.toLowerCase());
      if (schemaName === undefined) unqualified.add(name);
    }
  }
  return { names: [...names], unqualified: [...unqualified] };
}

// Parts of the grammar, whatever functions there are. x is a table.
const KEYWORDS = new Set(
  'AND ARRAY COALESCE CONFLICT EXISTS IN KEY ON OPERATOR OR SELECT VALUES WHERE WITH X AS BY'.split(
    ' ',
  ),
);

/** What counts the calls of the attacker's functions. A rollback takes none back. */
const COUNTER = `CREATE SEQUENCE ${schema}.calls; GRANT ALL ON SEQUENCE ${schema}.calls TO PUBLIC;
  CREATE FUNCTION ${schema}.note() RETURNS void LANGUAGE sql AS $$ SELECT pg_catalog.nextval('${schema}.calls'::regclass) $$`;
const TYPES =
  'text, bigint, integer, smallint, oid, regclass, name, double precision, numeric, varchar, interval, boolean, timestamptz';
const LISTS = [
  ...['', 'text', 'text, text', 'text, text, text', 'text, text, boolean', 'text, boolean'],
  ...['text, integer', 'bigint', 'integer', 'boolean', 'regclass', 'oid', 'text[]', 'bigint[]'],
  ...['VARIADIC text[]', 'VARIADIC bigint[]', 'VARIADIC anyarray', 'anyelement', 'anyarray'],
  ...['anyelement, anyelement', 'text, timestamptz', 'text, text, text, text, text'],
];

/** Overloads every function with each list of types, and with each that the built-in one has. */
const overloadFunctions = (names: readonly string[]) => `DO $make$
  DECLARE made record;
  BEGIN
    FOR made IN
      SELECT name, list FROM unnest('{${names.join()}}'::text[]) name, unnest('{"${LISTS.join('","')}"}'::text[]) list
      UNION SELECT proname, oidvectortypes(proargtypes) FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY('{${names.join()}}')
    LOOP
      BEGIN
        EXECUTE format('CREATE FUNCTION ${schema}.%I(%s) RETURNS text LANGUAGE plpgsql AS
          $$ BEGIN PERFORM ${schema}.note(); RETURN NULL; END $$', made.name, made.list);
      EXCEPTION WHEN OTHERS THEN NULL; -- Types that only C can have.
      END;
    END LOOP;
  END $make$`;

/** Makes every operator for each pair of types, those of the built-in ones among them. */
const OVERLOAD_OPERATORS = `DO $make$
  DECLARE made record;
  BEGIN
    FOR made IN
      SELECT row_number() OVER () AS number, sign, one, other, gives
      FROM (VALUES ('=', 'boolean'), ('<>', 'boolean'), ('<', 'boolean'), ('<=', 'boolean'), ('>', 'boolean'),
          ('>=', 'boolean'), ('+', 'bigint'), ('-', 'bigint'), ('*', 'double precision'), ('||', 'text')) signs (sign, gives),
        unnest(string_to_array('${TYPES}', ', ')) one, unnest(string_to_array('${TYPES}', ', ')) other
    LOOP
      EXECUTE format('CREATE FUNCTION ${schema}.operator_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS
        $$ BEGIN PERFORM ${schema}.note(); RETURN NULL; END $$;
        CREATE OPERATOR ${schema}.%s (LEFTARG = %2$s, RIGHTARG = %3$s, FUNCTION = ${schema}.operator_%1$s)',
        made.number, made.one, made.other, made.gives, made.sign);
    END LOOP;
  END $make$`;

const EXPECTED: readonly Message[] = [
  ['setup', undefined],
  ['setup again', undefined],
  ['new', 'processed'],
  ['duplicate', 'duplicate'],
  ['older', 'processed'],
  ['failed 1', 'out of stock'],
  ['failed 2', 'out of stock'],
  ['failed 3', 'CHANGE_PARKED'],
  ['replayed', 'processed'],
  ['paid', 'processed'],
  ['paid twice', 'processed'],
  ['paid twice, newer', 'processed'],
  ['create', 'created'],
  ['again', true],
  ['conflict', 'REFERENCE_CONFLICT'],
  ['rejected', 'API_ERROR'],
  ['lost', 'unresolved'],
  ['too early', 'STATE_CHANGED'],
  ['found', undefined],
  ['record', undefined],
  ['record', undefined],
  ['send', 'created'],
  ['recover', 1],
  ['settle', 'processed'],
  ['states', 'created', 'created', 'created'],
];

describe.skipIf(!process.env['DATABASE_URL'])(
  'a role that may create functions and operators where the application’s search_path looks',
  () => {
    useRoles(
      observer,
      [application, attacker],
      `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${application}, ${attacker}`,
    );
    const openAs = (role: string, path = schema) =>
      openPool({ options: `-c role=${role} -c search_path=${path}` });
    const asAttacker = openAs(attacker);

    const cases = [
      ['pg', schema, (pool: pg.Pool): Database => pool],
      ['pg', `${schema},pg_catalog`, (pool: pg.Pool): Database => pool],
      ['Drizzle', schema, (pool: pg.Pool): Database => fromDrizzle(drizzle(pool)) as never],
    ] as const;
    const pools = cases.map(([, path]) => openAs(application, path));
    const recorded = pools.map(recordMessages);
    const use = (index: number, prefix: string) => {
      const pool = pools[index] as pg.Pool;
      const [name, , open] = cases[index] as (typeof cases)[number];
      const transact: Transact = async (body) => {
        if (name === 'Drizzle') return drizzle(pool).transaction((tx) => body(tx));
        const client = await pool.connect();
        await client.query('BEGIN');
        await body(client);
        await client.query('COMMIT');
        client.release();
      };
      return useAll(open(pool), prefix, transact);
    };
    const countCalls = async () =>
      (await safe.query(`SELECT last_value, is_called FROM ${schema}.calls`)).rows;
    const NONE = [{ last_value: '1', is_called: false }];

    const before: Message[][] = [];
    let names: readonly string[] = [];
    let unqualified: readonly string[] = [];
    beforeAll(async () => {
      await observer.query(COUNTER);
      for (const index of cases.keys()) before.push(await use(index, `before_${index}_`));
      const calls = callsIn(recorded.flatMap(({ messages }) => messages));
      ({ names, unqualified } = calls);
      await asAttacker.query(overloadFunctions(names));
    });

    it('meets a store that qualifies every function that it calls', () => {
      expect(unqualified).toEqual([]);
      expect(names).toContain('pg_cancel_backend');
      expect(names).toContain('to_regclass');
      for (const seen of before) expect(seen.slice(0, EXPECTED.length)).toEqual(EXPECTED);
    });

    const restart = () => safe.query(`ALTER SEQUENCE ${schema}.calls RESTART`);
    const listed = cases.map(([name, path], index) => [name, path, index] as const);

    it('can overload them, and an application that qualifies nothing would call it', async () => {
      const { rows } = await safe.query(
        `SELECT proname, count(*)::int FROM pg_proc WHERE pronamespace = $1::regnamespace
           AND proname = ANY($2) GROUP BY 1 ORDER BY 1`,
        [schema, names],
      );
      expect(rows.map(({ proname }) => proname)).toEqual([...names].sort());
      expect(Math.min(...rows.map(({ count }) => count))).toBeGreaterThan(10);
      await openAs(application).query("SELECT json_build_array('a', 'b', 'c', 'd', 'e')");
      expect(await countCalls()).not.toEqual(NONE);
      await restart();
    });

    it.each(listed)(
      'changes nothing with functions, on %s with the search_path %s',
      async (_name, _path, index) => {
        expect(await use(index, `functions_${index}_`)).toEqual(before[index]);
        expect(await countCalls()).toEqual(NONE);
      },
    );

    // Where pg_catalog comes last, an operator is called by every statement of the application.
    describe('and operators', () => {
      beforeAll(() => asAttacker.query(OVERLOAD_OPERATORS));

      it('reaches an application that compares values of two types', async () => {
        await openAs(application).query("SELECT 1::oid = 'pg_class'::regclass");
        expect(await countCalls()).not.toEqual(NONE);
        await restart();
      });

      it.each(listed.filter(([, path]) => path === schema))(
        'changes nothing with them, on %s with the search_path %s',
        async (_name, _path, index) => {
          expect(await use(index, `operators_${index}_`)).toEqual(before[index]);
          expect(await countCalls()).toEqual(NONE);
        },
      );
    });
  },
);
