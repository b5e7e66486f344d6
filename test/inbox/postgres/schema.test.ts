import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { postgresInboxSchema } from '../../../src/inbox/postgres/schema.js';

describe('the schema', () => {
  it('is with the default names what schema.sql holds', () => {
    const file = new URL('../../../src/inbox/postgres/schema.sql', import.meta.url);
    expect(postgresInboxSchema()).toBe(readFileSync(file, 'utf8'));
  });

  it('has nothing of the default names when others are given', () => {
    const sql = postgresInboxSchema({ paymentsTable: 'billing.p', eventsTable: 'billing.e' });
    expect(sql).not.toContain('payment_inbox');
    expect(sql).toContain('CREATE INDEX IF NOT EXISTS "e_processed_at"\n  ON "billing"."e"');
  });

  it('gives an index the longest name that Postgres does not cut', () => {
    const sql = postgresInboxSchema({ eventsTable: 'e'.repeat(50) });
    const [, index = ''] = /"(e+_processed_at)"/.exec(sql) ?? [];
    expect(index).toHaveLength(63);
  });
});
