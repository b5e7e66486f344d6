/** A checked name, quoted for SQL. */
export function quoteName(name: string): string {
  return `"${name.replace('.', '"."')}"`;
}

/** The name alone, quoted. */
export function withoutSchema(table: string): string {
  const [name = table] = table.split('.').reverse();
  return name;
}
