import { beforeAll, describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/postgres/inbox-postgres-inbox.js';
import { change, nothing } from './payment-change.js';
import { useSchema } from './server.js';
import { describeStore } from './store-cases.js';

const schema = 'mp_inbox_migration';
const { openPool, observer } = useSchema(schema);

const functions = async () => {
  const { rows } = await observer.query<{ proname: string }>(
    "SELECT proname FROM pg_proc WHERE pronamespace = 'mp_inbox_migration'::regnamespace ORDER BY 1",
  );
  return rows.map(({ proname }) => proname);
};
const FUNCTIONS = ['payment_inbox_claim_v1', 'payment_inbox_record_v1'];
const dropFunctions = () => observer.query(`DROP FUNCTION IF EXISTS ${FUNCTIONS.join(', ')}`);

describe.skipIf(!process.env['DATABASE_URL'])('tables without the functions', () => {
  beforeAll(dropFunctions);

  it('are read before setup', async () => {
    await observer.query(`INSERT INTO payment_inbox_payments VALUES ('old', 1767323045000000 + 60000000);
      INSERT INTO payment_inbox_events VALUES ('old', 'old-1', 1767323045000000 + 60000000)`);
    const inbox = postgresInbox(openPool());
    expect(await inbox.process(change('old', 1), nothing)).toBe('duplicate');
    expect(await inbox.process(change('old', 0), nothing)).toBe('stale');
  });

  it('are kept by setup, which adds the functions', async () => {
    const inbox = postgresInbox(openPool());
    await inbox.setup();
    expect(await functions()).toEqual(FUNCTIONS);
    expect(await inbox.process(change('old', 1), nothing)).toBe('duplicate');
    expect(await inbox.process(change('old', 2), nothing)).toBe('processed');
    expect(await inbox.process(change('old', 0), nothing)).toBe('stale');
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('a role that may not create functions', () => {
  const role = 'mp_inbox_migration_app';
  const dropRole = `DO $$ BEGIN IF to_regrole('${role}') IS NOT NULL THEN
    EXECUTE 'DROP OWNED BY ${role}; DROP ROLE ${role}'; END IF; END $$`;

  it('sets up and processes without them', async () => {
    await dropFunctions();
    await observer.query(`${dropRole}; CREATE ROLE ${role};
      GRANT USAGE ON SCHEMA mp_inbox_migration TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON payment_inbox_payments, payment_inbox_events, payment_inbox_failures TO ${role}`);
    const inbox = postgresInbox(openPool({ options: `-c role=${role}` }));
    await inbox.setup();
    expect(await functions()).toEqual([]);
    expect(await inbox.process(change('no-create'), nothing)).toBe('processed');
    expect(await inbox.process(change('no-create'), nothing)).toBe('duplicate');
    await observer.query(dropRole);
  });
});

describe.skipIf(!process.env['DATABASE_URL'])('instances with and without the functions', () => {
  it('keep each other from a payment', async () => {
    await dropFunctions();
    const pools = [openPool(), openPool()] as const;
    const without = postgresInbox(pools[0]);
    await without.process(change('warm-up'), nothing);
    const withThem = postgresInbox(pools[1], { lockTimeoutMs: 5 });
    await withThem.setup();
    const outcome = await without.process(change('both', 1), async () => {
      expect(await withThem.process(change('both', 1), nothing)).toBe('busy');
      expect(await withThem.process(change('both', 2), nothing)).toBe('busy');
    });
    expect(outcome).toBe('processed');
  });

  it('lose them while they run, and go on', async () => {
    const inbox = postgresInbox(openPool());
    await inbox.setup();
    await inbox.process(change('losing', 1), nothing);
    await dropFunctions();
    expect(await inbox.process(change('losing', 2), nothing)).toBe('processed');
    expect(await inbox.process(change('losing', 1), nothing)).toBe('duplicate');
  });

  it('do not take the functions of other tables, which a later schema has', async () => {
    await observer.query(`DROP SCHEMA IF EXISTS mp_inbox_first CASCADE;
      CREATE SCHEMA mp_inbox_first;
      CREATE TABLE mp_inbox_first.payment_inbox_payments (LIKE payment_inbox_payments INCLUDING ALL);
      CREATE TABLE mp_inbox_first.payment_inbox_events (LIKE payment_inbox_events INCLUDING ALL)`);
    await postgresInbox(openPool()).setup();
    const options = `-c search_path=mp_inbox_first,${schema}`;
    const inbox = postgresInbox(openPool({ options }));
    expect(await inbox.process(change('other-tables'), nothing)).toBe('processed');
    const { rows } = await observer.query(
      'SELECT payment_reference FROM mp_inbox_first.payment_inbox_payments',
    );
    await observer.query('DROP SCHEMA mp_inbox_first CASCADE');
    expect(rows).toEqual([{ payment_reference: 'other-tables' }]);
  });
});

describe.skipIf(!process.env['DATABASE_URL'])(
  'postgresInbox whose functions may not be called',
  () => {
    // Made by hand where setup() is called, so that the inbox never has any.
    const pool = openPool();
    const refuse = `CREATE OR REPLACE FUNCTION payment_inbox_claim_v1(
      regclass, text, text, bigint, text, text) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege'; END $$;
    CREATE OR REPLACE FUNCTION payment_inbox_record_v1() RETURNS text LANGUAGE sql AS 'SELECT NULL'`;
    beforeAll(async () => {
      await dropFunctions();
      await observer.query(refuse);
    });
    describeStore(() => ({ pool, query: (text, values) => observer.query(text, values) }));
  },
);
