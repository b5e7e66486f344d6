import { matching, type Rule } from '../../protocol/options.js';

// Postgres truncates names at 63 bytes, and the longest suffix has 23.
const NAME = '[a-z_][a-z0-9_]{0,39}';
const EXPECTED = '1 to 40 ASCII letters, digits and underscores, not starting with a digit';

/** The prefix of the tables, after an optional schema, which in MySQL is a database. */
export const tablePrefix: Rule<string> = /* @__PURE__ */ prefixRule(
  `^(?:[a-z_][a-z0-9_]{0,49}\\.)?${NAME}$`,
  `${EXPECTED}, with a schema in front if needed ('billing.payments_')`,
);

/** The same for SQLite, which reserves `sqlite_` and has no schemas. */
export const sqliteTablePrefix: Rule<string> = /* @__PURE__ */ prefixRule(
  `^(?!sqlite_)${NAME}$`,
  `${EXPECTED} or sqlite_`,
);

function prefixRule(form: string, expected: string): Rule<string> {
  const pattern = new RegExp(form, 'i');
  return matching(
    expected,
    (prefix: unknown) => typeof prefix === 'string' && pattern.test(prefix),
  );
}
