import type { StoreError } from '../../errors.js';
import { missing } from '../errors.js';
import type { Dialect, Tables } from './dialect.js';

type Type = 'name' | 'text' | 'bigint' | 'int';

/** The columns of a table: each a type, with `?` if it may be NULL, and a comment. */
interface Table {
  readonly says: string;
  readonly columns: Readonly<Record<string, readonly [type: Type | `${Type}?`, says?: string]>>;
  readonly primaryKey: string;
  readonly index?: readonly [name: string, columns: string, says: string];
}

const REFERENCE =
  "The merchant's reference, or a digest of it if it is long or has special characters.";
const CHANGE = {
  merchant_payment_reference: ['name', REFERENCE],
  reference_number: ['name', "The service's reference, stored in the same way."],
  change_key: ['name'],
} as const;
const CHANGE_KEY = Object.keys(CHANGE).join(', ');

const TABLES: Readonly<Record<keyof Tables, Table>> = {
  payments: {
    says: 'One row for each order. Times are in milliseconds since 1970, except where the name says us.',
    columns: {
      merchant_payment_reference: ['name', REFERENCE],
      body: ['text', 'The request body as JSON, and its digest.'],
      digest: ['name'],
      state: [
        'name',
        'recorded, sending, created, unheard (created, no callback yet), missed (the same, and found with a status), rejected, unresolved, or elsewhere (not created by the store).',
      ],
      owner: ['name?', 'The fencing token of the process that sends it, and the end of its lease.'],
      lease_until_ms: ['bigint?'],
      attempts: ['int'],
      recorded_at_ms: ['bigint'],
      sent_at_ms: ['bigint?'],
      changed_at_ms: ['bigint'],
      reference_number: ['name?', 'The payment at the service.'],
      payment: ['text?', 'Its record as JSON, and the time of that.'],
      payment_updated_at_us: ['bigint?'],
      found_status: ['text?', 'Of a missed payment: the status that lookUp has found, as JSON.'],
      look_at_ms: ['bigint?', 'When lookUp is asked next; NULL for the next pass.'],
      paid_by: ['name?', 'The payment that has paid the order: on the first row and its own.'],
      order_name: ['text?', 'Of a later attempt at an order: its first reference, as JSON.'],
      replaced_by: ['text?', 'The reference that has replaced this one, as JSON.'],
      failure: ['text?', 'Why the last attempt failed, as JSON.'],
      has_failed: ['int?', '1 once the work of one of its changes has failed.'],
    },
    primaryKey: 'merchant_payment_reference',
    index: ['state', 'state, changed_at_ms', 'For recover(), attention() and prune().'],
  },
  changes: {
    says: 'One row for each processed change of a payment.',
    columns: {
      ...CHANGE,
      occurred_at_us: ['bigint'],
      latest_rank: ['bigint', 'Of the newest change: its half microseconds, plus 1 if it is paid.'],
      processed_at_ms: ['bigint'],
    },
    primaryKey: CHANGE_KEY,
    index: ['processed', 'processed_at_ms', 'For prune().'],
  },
  failures: {
    says: 'One row for each change whose work failed and has not completed since.',
    columns: {
      ...CHANGE,
      full_names: ['text', 'The three names in full, as JSON.'],
      occurred_at_us: ['bigint'],
      attempts: ['int'],
      first_failed_at_ms: ['bigint'],
      last_failed_at_ms: ['bigint'],
      parked: ['int'],
      error: ['text', 'Why it last failed, as JSON.'],
      raw_body: ['text?', 'The body as received, in base64, until prune() removes it.'],
    },
    primaryKey: CHANGE_KEY,
    index: ['age', 'first_failed_at_ms', 'For attention() and prune().'],
  },
  seconds: {
    says: 'One row for each further payment at the service with the same reference.',
    columns: {
      merchant_payment_reference: ['name'],
      reference_number: ['name'],
      payment: ['text', 'The record as JSON, and its time.'],
      payment_updated_at_us: ['bigint?'],
      found_at_ms: ['bigint'],
    },
    primaryKey: 'merchant_payment_reference, reference_number',
  },
};

/** A table of a store, or an index of one. */
export interface SchemaPart {
  readonly table: keyof Tables;
  /** The suffix of the index; undefined for the table itself. */
  readonly index: string | undefined;
  readonly create: string;
  /** Whether the statement of the table makes the index too. */
  readonly isInTable: boolean;
}

/** The statements that create the tables and indexes, in this order. */
export function schemaOf(dialect: Dialect): readonly SchemaPart[] {
  return tableNames().flatMap((table): SchemaPart[] => {
    const { says, columns, primaryKey, index } = TABLES[table];
    const { inTable, create } = (index && dialect.index(table, index[0], index[1])) ?? {};
    const lines = Object.entries(columns).flatMap(([name, [type, comment]]) => [
      ...(comment === undefined ? [] : [`  -- ${comment}`]),
      `  ${name} ${typeOf(dialect, type)},`,
    ]);
    const keys = [
      `  PRIMARY KEY (${primaryKey})`,
      ...(inTable === undefined ? [] : [`  ${inTable}`]),
    ];
    const createTable = `-- ${says}
CREATE TABLE IF NOT EXISTS ${dialect.tables[table]} (
${lines.join('\n')}
${keys.join(',\n')}
)${dialect.tableOptions}`;
    const part = { table, index: undefined, create: createTable, isInTable: false };
    if (index === undefined || create === undefined) return [part];
    const [name, , purpose] = index;
    const isInTable = inTable !== undefined;
    return [part, { table, index: name, create: `-- ${purpose}\n${create}`, isInTable }];
  });
}

/** The names of the tables of a store, in the order of their creation. */
export function tableNames(): readonly (keyof Tables)[] {
  return Object.keys(TABLES) as (keyof Tables)[];
}

/**
 * The statements that add the columns that a table lacks.
 *
 * @param has the names of the columns that it has
 * @throws {StoreError} `MISSING_TABLES` when one of them can't be added, as it may not be empty
 */
export function missingColumns(
  dialect: Dialect,
  table: keyof Tables,
  has: readonly string[],
): readonly string[] {
  return Object.entries(TABLES[table].columns)
    .filter(([name]) => !has.includes(name))
    .map(([name, [type]]) => {
      if (!type.endsWith('?')) throw missingColumn(dialect.tables[table], name);
      return `ALTER TABLE ${dialect.tables[table]} ADD COLUMN ${name} ${typeOf(dialect, type)}`;
    });
}

export function missingColumn(table: string, column: string): StoreError {
  return missing(
    `The table ${table} has no column ${column}: it is another program's, or of an earlier version. Nothing was changed. Set another prefix, or migrate`,
  );
}

function typeOf({ nameType, textType }: Dialect, type: Type | `${Type}?`): string {
  const isOptional = type.endsWith('?');
  const plain = (isOptional ? type.slice(0, -1) : type) as Type;
  const sqlType = { name: nameType, text: textType, bigint: 'bigint', int: 'int' }[plain];
  return isOptional ? sqlType : `${sqlType} NOT NULL`;
}
