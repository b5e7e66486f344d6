import { PaymentClient } from '../dist/index.js';
import { ENGINES } from './engines.mjs';

// What a store does, and what a merchant would write by hand instead, on one pool.

export const PREFIX = 'mp_bench_';
const ORDERS = 10_000;
/** Sends nothing here. */
const CLIENT = new PaymentClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', apiSecret: 's' });

const DIGIT = `(SELECT 0 AS n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => ` UNION ALL SELECT ${n}`).join('')})`;

/** So many numbers `n` from 0, at most a million, in the SQL of every server. */
const numbers = (count) =>
  `(SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS n FROM ${[...'abcdef'].map((name) => `${DIGIT} AS ${name}`).join(', ')}) AS numbers WHERE n < ${count}`;

async function dropTables({ schema }, query) {
  if (schema === undefined) return; // the file goes
  const tables = await query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${schema} AND table_name LIKE '${PREFIX}%'`,
  );
  if (tables.length > 0) await query(`DROP TABLE ${tables.map(({ name }) => name).join(', ')}`);
}

/** Payments that were created and not heard of yet: `<reference>0` and so on. */
function fillPayments(query, count, reference = 'order-') {
  return query(`INSERT INTO ${PREFIX}payments
      (merchant_payment_reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms, reference_number, payment)
    SELECT CONCAT('${reference}', n), '{}', '', 'unheard', 1, 0, 0, CONCAT('PAY-${reference}', n), '{}' FROM ${numbers(count)}`);
}

let changes = 0;

/** A status that the order has not, so that MySQL writes the row. */
function nextStatus() {
  changes += 1;
  return `paid ${changes}`;
}

/** A callback by the store, and one by hand, which promises the same but for the order of changes. */
export async function openCallbackSides(
  engineName,
  url,
  { connections, keyOf, isReady = false, created = 0 },
) {
  const engine = ENGINES[engineName];
  const { begin, insertUnlessThere, keyType, place } = engine;
  const { openStore, query, take, countOf, close } = await engine.open(url, connections);
  // A store that creates payments has a client, and expects to find them.
  const client = created > 0 ? CLIENT : undefined;
  const store = openStore({ prefix: PREFIX, client });
  const insert = insertUnlessThere(`${PREFIX}seen (name)`, `(${place(1)})`);
  // The work of both: one order's status.
  const update = `UPDATE ${PREFIX}orders SET status = ${place(1)} WHERE id = ${place(2)}`;
  if (!isReady) {
    await dropTables(engine, query);
    await query(`CREATE TABLE ${PREFIX}seen (name ${keyType} PRIMARY KEY)`);
    await query(`CREATE TABLE ${PREFIX}orders (id int PRIMARY KEY, status varchar(20))`);
    await query(`INSERT INTO ${PREFIX}orders SELECT n, 'new' FROM ${numbers(ORDERS)}`);
    await store.setup();
    if (created > 0) await fillPayments(query, created);
  }
  let count = 0;
  const next = () => {
    count += 1;
    return { key: keyOf(count), order: count % ORDERS };
  };
  const at = new Date().toISOString();
  const record = { providerReference: '', status: 'paid', createdAt: at, updatedAt: at };

  const byHand = async () => {
    const { key, order } = next();
    const connection = await take();
    try {
      await connection.query(begin);
      const isNew = countOf(await connection.query(insert, [`${key}.paid`])) === 1;
      if (isNew) await connection.query(update, [nextStatus(), order]);
      await connection.query(isNew ? 'COMMIT' : 'ROLLBACK');
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  };
  return {
    subject() {
      const { key, order } = next();
      const referenceNumber = `PAY-${key}`;
      const payment = { merchantPaymentReference: key, referenceNumber, ...record };
      return store.process({ key: `${referenceNumber}.paid`, payment }, ({ tx }) =>
        tx.query(update, [nextStatus(), order]),
      );
    },
    floor: byHand,
    /** Rows of before, in the tables of both. */
    async fill(rows) {
      await fillPayments(query, rows, 'OLD-');
      await query(`INSERT INTO ${PREFIX}changes
          (merchant_payment_reference, reference_number, change_key, occurred_at_us, latest_rank, processed_at_ms)
        SELECT CONCAT('OLD-', n), CONCAT('PAY-OLD-', n), 'paid', 0, 0, 0 FROM ${numbers(rows)}`);
      await query(`INSERT INTO ${PREFIX}seen SELECT CONCAT('OLD-', n) FROM ${numbers(rows)}`);
    },
    query,
    drop: () => dropTables(engine, query),
    close,
  };
}

/** A payment by the store, and one by hand: stored before it is sent, and what became of it. */
export async function openCreationSides(
  engineName,
  url,
  { connections, keyOf, isReady = false, client },
) {
  const engine = ENGINES[engineName];
  const { insertUnlessThere, place } = engine;
  const { openStore, query, close } = await engine.open(url, connections);
  const store = openStore({ client, prefix: PREFIX });
  const insert = insertUnlessThere(
    `${PREFIX}intents (reference, body)`,
    `(${place(1)}, ${place(2)})`,
  );
  const update = `UPDATE ${PREFIX}intents SET state = 'created', reference_number = ${place(1)}, payment = ${place(2)} WHERE reference = ${place(3)}`;
  if (!isReady) {
    await dropTables(engine, query);
    await query(`CREATE TABLE ${PREFIX}intents (reference varchar(128) PRIMARY KEY, body text NOT NULL,
      state varchar(16) NOT NULL DEFAULT 'sending', reference_number varchar(128), payment text)`);
    await store.setup();
  }
  let count = 0;
  const nextPayment = () => {
    count += 1;
    return { merchantPaymentReference: keyOf(count), amount: 2500, currency: 'EUR' };
  };
  return {
    subject: () => store.create(nextPayment()),
    async floor() {
      const input = nextPayment();
      const reference = input.merchantPaymentReference;
      await query(insert, [reference, JSON.stringify(input)]);
      const { payment } = await client.payments.create(input);
      await query(update, [payment.referenceNumber, JSON.stringify(payment), reference]);
    },
    /** Rows of before, in the tables of both. */
    async fill(rows) {
      await fillPayments(query, rows, 'OLD-');
      await query(
        `INSERT INTO ${PREFIX}intents (reference, body, state) SELECT CONCAT('OLD-', n), '{}', 'created' FROM ${numbers(rows)}`,
      );
    },
    query,
    drop: () => dropTables(engine, query),
    close,
  };
}
