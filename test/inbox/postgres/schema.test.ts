import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { postgresInboxSchema } from '../../../src/inbox/postgres/schema.js';

describe('the schema', () => {
  it('equals schema.sql with the default prefix', () => {
    const file = new URL('../../../src/inbox/postgres/schema.sql', import.meta.url);
    expect(postgresInboxSchema()).toBe(readFileSync(file, 'utf8'));
  });

  it('has nothing of the default prefix when another is given', () => {
    const sql = postgresInboxSchema({ prefix: 'billing.mp_' });
    expect(sql).not.toContain('payment_inbox');
    expect(sql).toContain(
      'CREATE INDEX IF NOT EXISTS "mp_events_processed_at"\n  ON "billing"."mp_events"',
    );
  });

  it('has no name that Postgres cuts', () => {
    const sql = postgresInboxSchema({ prefix: 'e'.repeat(40) });
    for (const [, name = ''] of sql.matchAll(/"(e+[a-z_0-9]*)"/g)) {
      expect(name.length).toBeLessThanOrEqual(63);
    }
  });
});
