import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { ManagedStore } from '../../src/store/callback-store.js';
import type { OpenDatabase, SqliteDriver } from './open-database.js';

export const LEASE_MS = 30_000;
export const START_MS = 1_769_860_800_000;

/** A file of its own for each test, with a clock that stands still. */
export class Scene {
  nowMs = START_MS;
  readonly #open: SqliteDriver['open'];
  #folder = '';
  #opened: OpenDatabase[] = [];

  constructor(open: SqliteDriver['open']) {
    this.#open = open;
    beforeEach(() => {
      this.#folder = mkdtempSync(join(tmpdir(), 'sqlite-store-'));
      this.#opened = [];
      this.nowMs = START_MS;
    });
    afterEach(() => {
      for (const database of this.#opened) database.close();
      rmSync(this.#folder, { recursive: true });
    });
  }

  /** Another connection to the same file, as another process has. */
  connect(): OpenDatabase {
    const database = this.#open(join(this.#folder, 'shop.db'));
    this.#opened.push(database);
    return database;
  }

  /** Closes a connection before the end. */
  close(database: OpenDatabase): void {
    this.#opened.splice(this.#opened.indexOf(database), 1);
    database.close();
  }

  readonly now = (): number => this.nowMs;

  async open({ database = this.connect(), leaseMs = LEASE_MS } = {}): Promise<{
    database: OpenDatabase;
    store: ManagedStore;
  }> {
    const store = sqliteStore(database, { leaseMs, now: this.now });
    await store.setup();
    return { database, store };
  }

  /** A store on a connection of its own. */
  async store(options?: { leaseMs: number }): Promise<ManagedStore> {
    return (await this.open(options)).store;
  }
}

/** The columns of the first row. */
export function readAll(database: OpenDatabase, sql: string): unknown[] {
  const row = database.prepare(sql).get();
  return row === undefined ? [] : Object.values(row as object);
}

export function count(database: OpenDatabase, table: string): number {
  return Number(readAll(database, `SELECT count(*) FROM payment_store_${table}`)[0]);
}

/** When the only claim ends. */
export function untilMs(database: OpenDatabase): number {
  return Number(readAll(database, 'SELECT until_ms FROM payment_store_claims')[0]);
}
