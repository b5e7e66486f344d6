import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: plain JavaScript, as Stryker's configuration is.
import { partOf } from './changed-lines.mjs';
// @ts-expect-error: as above.
import { EXPLAINED_SURVIVORS } from './explained-survivors.mjs';
// @ts-expect-error: as above.
import { PARTS } from './parts.mjs';

describe('the part of a changed file', () => {
  it.each([
    ['src/errors.ts', 'errors'],
    ['src/callback/verify.ts', 'callback'],
    ['src/callback/web/verify.ts', 'callback'],
    ['src/client/transport/undici.ts', 'client'],
    ['src/store/memory.ts', 'store'],
    ['src/store/lease/lease.ts', 'store'],
    ['src/store/rows.ts', 'sql'],
    ['src/store/memory-warning.ts', undefined],
    ['src/store/sql/sql-backend.ts', 'sql'],
    ['src/store/providers/kysely.ts', 'sql'],
    ['src/postgres/setup.ts', 'postgres'],
    ['src/mysql/setup.ts', 'mysql'],
    ['src/sqlite/session.ts', 'sqlite'],
    ['src/redis/client.ts', 'redis'],
    ['src/postgres/schema.sql', undefined],
    ['src/mock-server/server.ts', undefined],
  ])('of %s is %s', (file, part) => {
    expect(existsSync(file)).toBe(true);
    expect(partOf(file, PARTS)).toBe(part);
  });
});

it('mutates every part each night', () => {
  const nightly = readFileSync('.github/workflows/nightly.yml', 'utf8');
  const commands = nightly.match(/(?<=test:mutation -- ).*/g) ?? [];
  const named = commands.flatMap((words) => words.split(' ').filter((word) => /^[a-z]/.test(word)));
  expect(named.sort()).toEqual(Object.keys(PARTS).sort());
});

it('explains only survivors whose line still exists', () => {
  const lines = (file: string) => readFileSync(file, 'utf8').split('\n');
  const stale = (EXPLAINED_SURVIVORS as { file: string; code: string }[]).filter(
    ({ file, code }) => !existsSync(file) || !lines(file).some((line) => line.trim() === code),
  );
  expect(stale).toEqual([]);
});
