import { matching, type Rule } from '../protocol/options.js';

// Postgres cuts a name at 63 bytes, and the longest has 23 more than the prefix.
const NAME = '[a-z_][a-z0-9_]{0,39}';
const EXPECTED = '1 to 40 ASCII letters, digits and underscores, not starting with a digit';

/** What the names of tables begin with. In MySQL, a database is what is a schema elsewhere. */
export const tablePrefix: Rule<string> = /* @__PURE__ */ prefixRule(
  `^(?:[a-z_][a-z0-9_]{0,49}\\.)?${NAME}$`,
  `${EXPECTED}, with a schema in front if need be ('billing.payments_')`,
);

/** The same in SQLite, which keeps the names that begin with its own for itself, and has no schemas. */
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
