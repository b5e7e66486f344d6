import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { mysqlOutbox } from '../../src/mysql/outbox-mysql-outbox.js';
import { mysqlOutboxSchema } from '../../src/mysql/outbox-schema.js';
import type { PaymentOutbox } from '../../src/store/outbox.js';
import { postgresOutbox } from '../../src/postgres/outbox-postgres-outbox.js';
import { postgresOutboxSchema } from '../../src/postgres/outbox-schema.js';
import type { Logger } from '../../src/protocol/logger.js';
import { recordLines } from '../protocol/recorded-lines.js';
import { order } from './settling-scene.js';
import { unusedClient } from './unused-client.js';

interface Options {
  client: PaymentClient;
  logger?: Logger;
}

interface Engine {
  readonly engine: string;
  open(options: Options): PaymentOutbox<never>;
  schema(options?: { prefix?: string }): string;
  readonly names: readonly string[];
}

// Their pools connect only when they are used, and then to no server.
const engines: readonly Engine[] = [
  {
    engine: 'postgres',
    open: (options) =>
      postgresOutbox(
        new pg.Pool({ connectionString: 'postgresql://u:secret@127.0.0.1:1/db' }),
        options,
      ),
    schema: postgresOutboxSchema,
    names: ['"billing"."out_payments"', 'INDEX IF NOT EXISTS "out_payments_state"'],
  },
  {
    engine: 'mysql',
    open: (options) => mysqlOutbox(mysql.createPool('mysql://u:secret@127.0.0.1:1/db'), options),
    schema: (options) => `${mysqlOutboxSchema(options).join(';\n\n')};\n`,
    names: ['`billing`.`out_payments`', '`billing`.`out_second_payments`'],
  },
];

describe.each(engines)('an outbox in $engine', ({ engine, open, schema, names }) => {
  it('takes an object with a client as its options', () => {
    expect(() => open(undefined as never)).toThrow(
      /^options is missing; it must be an object with client$/,
    );
  });

  it('may have a logger, which gets what fails', async () => {
    const { lines, logger } = recordLines();
    const outbox = open({ client: unusedClient, logger });
    await expect(outbox.create(order('order-1'))).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(lines).toMatchObject([{ level: 'error', fields: { code: 'STORE_FAILED' } }]);
  });

  it('has a schema that equals schema.sql with the default prefix', () => {
    expect(schema()).toBe(readFileSync(`src/outbox/${engine}/schema.sql`, 'utf8'));
  });

  it('has the prefix in every name of its schema, with its database in front of tables', () => {
    const sql = schema({ prefix: 'billing.out_' });
    for (const name of names) expect(sql).toContain(name);
    expect(sql).not.toContain('payment_outbox');
  });

  it('refuses a prefix that is not a name', () => {
    expect(() => schema({ prefix: 'a; DROP' })).toThrow(
      expect.objectContaining({ option: 'prefix' }),
    );
  });
});
