import { matching, type Rule } from '../../protocol/options.js';

// Postgres cuts a name at 63 bytes, and the longest has 23 more than the prefix.
const PREFIX = /^(?:[a-z_][a-z0-9_]{0,49}\.)?[a-z_][a-z0-9_]{0,39}$/i;

/** What the names of tables begin with. */
export const tablePrefix: Rule<string> = /* @__PURE__ */ matching(
  "1 to 40 ASCII letters, digits and underscores, not starting with a digit, with a schema in front if need be ('billing.payments_')",
  (prefix: unknown) => typeof prefix === 'string' && PREFIX.test(prefix),
);

/** A checked name, quoted for SQL. */
export function quoteName(name: string): string {
  return `"${name.replace('.', '"."')}"`;
}

/** The name alone, quoted. */
export function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
}
