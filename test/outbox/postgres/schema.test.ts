import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { postgresOutboxSchema } from '../../../src/outbox/postgres/schema.js';

describe('the schema', () => {
  it('equals schema.sql with the default prefix', () => {
    const file = new URL('../../../src/outbox/postgres/schema.sql', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(postgresOutboxSchema());
  });

  it('has the prefix in every name, with its schema in front of tables', () => {
    const sql = postgresOutboxSchema({ prefix: 'billing.out_' });
    expect(sql).toContain('"billing"."out_payments"');
    expect(sql).toContain('INDEX IF NOT EXISTS "out_payments_state"');
    expect(sql).not.toContain('payment_outbox');
  });

  it('refuses a prefix that is not a name', () => {
    expect(() => postgresOutboxSchema({ prefix: 'a; DROP' })).toThrow(
      expect.objectContaining({ option: 'prefix' }),
    );
  });
});
