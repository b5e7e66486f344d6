/** Quotes ASCII text as a literal that means the same in every sql_mode and character set of the connection. */
export function literal(text: string): string {
  return /['\\]/.test(text)
    ? `_ascii X'${Buffer.from(text, 'latin1').toString('hex')}'`
    : `'${text}'`;
}

/** Quotes a validated name for SQL. */
export function quoteName(name: string): string {
  return `\`${name.replace('.', '`.`')}\``;
}
