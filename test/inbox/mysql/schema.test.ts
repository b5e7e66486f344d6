import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mysqlInboxSchema, toScript } from '../../../src/inbox/mysql/schema.js';

describe('the schema', () => {
  it('equals schema.sql with the default prefix, for the command line', () => {
    const file = new URL('../../../src/inbox/mysql/schema.sql', import.meta.url);
    expect(toScript(mysqlInboxSchema())).toBe(readFileSync(file, 'utf8'));
  });

  it('has nothing of the default prefix when another is given', () => {
    const sql = mysqlInboxSchema({ prefix: 'billing.mp_' }).join('\n');
    expect(sql).not.toContain('payment_inbox');
    expect(sql).toContain('CREATE TABLE IF NOT EXISTS `billing`.`mp_events` (');
    expect(sql).toContain('CREATE PROCEDURE `billing`.`mp_claim_v1`(');
  });

  it('has no name that MySQL refuses', () => {
    const sql = mysqlInboxSchema({ prefix: 'e'.repeat(40) }).join('\n');
    for (const [, name = ''] of sql.matchAll(/`(e+[a-z_0-9]*)`/g)) {
      expect(name.length).toBeLessThanOrEqual(64);
    }
  });

  it('is statements without a semicolon at their end', () => {
    for (const statement of mysqlInboxSchema()) expect(statement).not.toMatch(/;\s*$/);
  });
});
