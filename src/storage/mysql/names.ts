/** A checked name, quoted for SQL. */
export function quoteName(name: string): string {
  return `\`${name.replace('.', '`.`')}\``;
}
