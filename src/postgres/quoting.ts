/**
 * Quotes a text as an SQL literal. A text with a backslash becomes E'…', which means the same whether
 * `standard_conforming_strings` is on or off.
 */
export function literal(text: string): string {
  if (!/['\\]/.test(text)) return `'${text}'`;
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
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
