import pg from 'pg';

/** The database of every pool of the examples. It can be switched off. */
export const database = { isDown: false };

type Callback = (error: Error | undefined, client?: pg.PoolClient, done?: () => void) => void;

class Pool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const error = database.isDown ? new Error('connect ECONNREFUSED') : undefined;
    if (callback === undefined) return error ? Promise.reject(error) : super.connect();
    if (error) callback(error);
    else super.connect(callback as Parameters<pg.Pool['connect']>[0]);
    return undefined;
  }
}

// In the place of the package `pg`.
export default { Pool };
