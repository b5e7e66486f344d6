import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';

/** Roles of the server for one test file, dropped after it. `make` runs once they exist. */
export function useRoles(observer: pg.Pool, roles: readonly string[], make = ''): void {
  const drop = roles
    .map(
      (role) => `DO $$ BEGIN IF to_regrole('${role}') IS NOT NULL THEN
        EXECUTE 'DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}'; END IF; END $$;`,
    )
    .join('\n');
  const create = roles.map((role) => `CREATE ROLE ${role} LOGIN;`).join('\n');
  beforeAll(() => observer.query(`${drop}\n${create}\n${make}`));
  afterAll(() => observer.query(drop));
}
