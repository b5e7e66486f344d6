/**
 * Quotes a text as an SQL literal. A text with a backslash becomes E'…', which means the same whether
 * `standard_conforming_strings` is on or off.
 */
export function literal(text: string): string {
  if (!/['\\]/.test(text)) return `'${text}'`;
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}
