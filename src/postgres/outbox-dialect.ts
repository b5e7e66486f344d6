import { literal } from './literal.js';
import { indexName } from './schema-parts.js';
import type { Dialect } from '../store/sql/dialect.js';
import type { QuotedTables } from './outbox-options.js';

/** Makes the transaction commit to disk, even if the role's default is not to. */
export const DURABLY = `set_config('synchronous_commit',
  replace(current_setting('synchronous_commit'), 'off', 'on'), true)`;

export const postgresDialect = ({ payments, seconds }: QuotedTables): Dialect => ({
  payments,
  seconds,
  nameType: 'text COLLATE "C"',
  textType: 'text',
  tableOptions: ' WITH (fillfactor = 80)',
  index: {
    statement: `CREATE INDEX IF NOT EXISTS ${indexName(payments, 'state')}
  ON ${payments} (state, changed_at_ms)`,
  },
  now: () => '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  list: (columns) => `json_build_array(${columns})::text`,
  forUpdate: ' FOR UPDATE',
  skipLocked: ' FOR UPDATE SKIP LOCKED',
  ifNew: ' ON CONFLICT DO NOTHING',
  unlessStored: ' ON CONFLICT DO NOTHING',
  deleteIn: (references) => `DELETE FROM ${payments} WHERE reference IN (${references})`,
  byReference: '',
  literal,
  durably: (text) => `${text} || left(${DURABLY}, 0)`,
});
