import type { Ask } from '../store/sql/transactions.js';

/**
 * Stands for the database of the pool in a statement, before the name of a table. No text that a statement quotes can
 * contain this character: names are printable, and JSON escapes it.
 */
export const HERE = '\u0001';

/** The database in which the tables of a store are: that of the first session, as work may change it for later ones. */
export class Location {
  #prefix: string | undefined;

  /** Replaces {@link HERE} in a statement. */
  async in(statement: string, ask: Ask): Promise<string> {
    if (this.#prefix === undefined && statement.includes(HERE)) {
      const [database = ''] = await ask("SELECT COALESCE(DATABASE(), '')");
      this.#prefix = database === '' ? '' : `\`${database.replaceAll('`', '``')}\`.`;
    }
    return statement.replaceAll(HERE, this.#prefix ?? '');
  }
}
