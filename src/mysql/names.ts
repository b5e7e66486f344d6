/** Quotes a validated name for SQL. */
export function quoteName(name: string): string {
  return `\`${name.replace('.', '`.`')}\``;
}
