import type { Dialect, Key } from './dialect.js';

/** For engines that find the rows of a condition by their keys. SQLite has no lists of rows. */
export const byKey: Pick<Dialect, 'updateByKey' | 'deleteByKey'> = {
  updateByKey: (table, set, keys) => `UPDATE ${table} SET ${set}\nWHERE ${anyOf(keys)}`,
  deleteByKey: (table, keys) => `DELETE FROM ${table} WHERE ${anyOf(keys)}`,
};

function anyOf(keys: readonly Key[]): string {
  const conditions = keys.map((key) =>
    Object.entries(key)
      .map(([column, literal]) => `${column} = ${literal}`)
      .join(' AND '),
  );
  return conditions.map((condition) => `(${condition})`).join(' OR ');
}
