import pg from 'pg';

const SERVER = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

/** Passes a new database on the server at `DATABASE_URL` to `use`, and drops it afterwards. */
export async function withDatabase(name, use) {
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  const drop = `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`;
  await runOnServer(drop, `CREATE DATABASE ${name}`);
  const pool = new pg.Pool({ connectionString: url.href });
  // The last connections may be ended by the drop.
  pool.on('error', () => undefined);
  try {
    return await use({
      url: url.href,
      query: async (...query) => (await pool.query(...query)).rows,
    });
  } finally {
    await pool.end();
    await runOnServer(drop);
  }
}

async function runOnServer(...statements) {
  const client = new pg.Client(SERVER);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

export async function versionOfServer() {
  const client = new pg.Client(SERVER);
  await client.connect();
  const { rows } = await client.query('SHOW server_version');
  await client.end();
  return rows[0].server_version.split(' ')[0];
}
