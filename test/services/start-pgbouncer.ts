import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanUpAtExit, findFreePort } from './throwaway-server.js';

/** Debian has it where only root looks. */
const program = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (path) => spawnSync(path, ['--version']).status === 0,
);

/** Whether pgbouncer is installed. */
export const hasPgbouncer = program !== undefined;

export interface Pgbouncer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts one in transaction mode, with two connections to the server. */
export async function startPgbouncer(serverUrl: string): Promise<Pgbouncer> {
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
default_pool_size = 2
`,
  );
  // It refuses to run as root.
  const identity = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const server = spawn(program, [...identity, settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  const forget = cleanUpAtExit(() => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const said: string[] = [];
  const lines = createInterface(server.stderr);
  for await (const line of lines) {
    said.push(line);
    if (line.includes('process up')) break;
  }
  server.stderr.resume();
  if (server.exitCode !== null)
    throw new Error(`pgbouncer did not start. It said:\n${said.join('\n')}`);
  return {
    url: `postgresql://${encodeURIComponent(user)}@127.0.0.1:${listenPort}/${database}`,
    async stop() {
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
      forget();
    },
  };
}
