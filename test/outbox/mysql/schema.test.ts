import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mysqlOutboxSchema } from '../../../src/outbox/mysql/schema.js';

describe('the schema', () => {
  it('equals schema.sql with the default prefix', () => {
    const file = new URL('../../../src/outbox/mysql/schema.sql', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(`${mysqlOutboxSchema().join(';\n\n')};\n`);
  });

  it('has the prefix in every name, with its database in front', () => {
    const sql = mysqlOutboxSchema({ prefix: 'billing.out_' }).join('\n');
    expect(sql).toContain('`billing`.`out_payments`');
    expect(sql).toContain('`billing`.`out_second_payments`');
    expect(sql).not.toContain('payment_outbox');
  });

  it('refuses a prefix that is not a name', () => {
    expect(() => mysqlOutboxSchema({ prefix: 'a; DROP' })).toThrow(
      expect.objectContaining({ option: 'prefix' }),
    );
  });
});
