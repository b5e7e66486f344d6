import type pg from 'pg';

/** Records the text of every message that is sent on the connections of a pool, from now on. */
export function recordMessages(pool: pg.Pool) {
  const messages: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    Object.assign(client, {
      query(...args: unknown[]) {
        const [sent] = args;
        messages.push(typeof sent === 'string' ? sent : String((sent as { text?: unknown }).text));
        return query(...args);
      },
    });
  });
  return {
    messages,
    /** The messages since the last call. */
    take: () => messages.splice(0),
  };
}
