/** The URL with another database. */
export function inDatabase(url: string, database: string): string {
  const named = new URL(url);
  named.pathname = `/${database}`;
  return named.href;
}
