import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, startProgram, type ThrowawayServer } from './throwaway-server.js';

/** Debian has it where only root looks. */
const program = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (path) => spawnSync(path, ['--version']).status === 0,
);

/** Whether pgbouncer is installed. */
export const hasPgbouncer = program !== undefined;

export type Pgbouncer = Pick<ThrowawayServer, 'url' | 'stop'>;

/** Starts one in transaction mode, with so many connections to the server. */
export async function startPgbouncer(serverUrl: string, connections = 2): Promise<Pgbouncer> {
  if (program === undefined) throw new Error('pgbouncer is not installed');
  const { hostname, port, username, pathname } = new URL(serverUrl);
  const user = decodeURIComponent(username);
  const database = pathname.slice(1);
  const listenPort = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'test-pgbouncer-'));
  chmodSync(folder, 0o755);
  const settings = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${user}" ""\n`);
  writeFileSync(
    settings,
    `[databases]
${database} = host=${hostname} port=${port || 5432} dbname=${database} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${connections}
`,
  );
  // It refuses to run as root.
  const identity = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const url = `postgresql://${encodeURIComponent(user)}@127.0.0.1:${listenPort}/${database}`;
  const server = await startProgram(url, {
    command: program,
    args: [...identity, settings],
    folder,
    says: ['stderr', 'process up'],
  });
  // It waits for its clients when it is only asked to end.
  return { url, stop: () => server.kill().then(server.stop) };
}
