/**
 * Text as a literal of SQL. With a backslash in it as E'…', which means the same whether
 * `standard_conforming_strings` is on or off.
 */
export function literal(text: string): string {
  if (!/['\\]/.test(text)) return `'${text}'`;
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}
