/**
 * Quotes a text as an SQL literal. A text with a backslash becomes E'…', which means the same whether
 * `standard_conforming_strings` is on or off. A question mark is escaped, as knex takes it for a placeholder.
 */
export function literal(text: string): string {
  if (!/['\\?]/.test(text)) return `'${text}'`;
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('?', '\\x3f');
  return escaped.includes('\\') ? `E'${escaped}'` : `'${escaped}'`;
}

/** Quotes a validated name for SQL. */
export function quoteName(name: string): string {
  return `"${name.replace('.', '"."')}"`;
}

/** Removes the schema from a quoted name. */
export function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
}
