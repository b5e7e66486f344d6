/** Quotes a validated name for SQL. */
export function quoteName(name: string): string {
  return `"${name.replace('.', '"."')}"`;
}

/** Removes the schema from a quoted name. */
export function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
}
