import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import {
  findFreePort,
  serverUser,
  startProgram,
  type ThrowawayServer,
} from './throwaway-server.js';

const run = promisify(execFile);

const program = find('mariadbd');
const installer = find('mariadb-install-db');

/** Whether the MariaDB server is installed. */
export const hasMariadb = program !== undefined && installer !== undefined;

/** Starts a MariaDB server of the tests' own. It has a user `root`, who needs no password, and a database `test`. */
export async function startMariadb(): Promise<ThrowawayServer> {
  if (program === undefined || installer === undefined) {
    throw new Error('MariaDB is not installed: there is no mariadbd, or no mariadb-install-db');
  }
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'test-mariadb-'));
  const user = serverUser('mysql');
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const settings = [
    '--no-defaults',
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    '--skip-name-resolve',
    // The machine does not crash, only the server: what was written is in the files.
    '--innodb-flush-log-at-trx-commit=2',
    ...(user ? ['--user=mysql'] : []),
  ];

  return startProgram(`mysql://root@127.0.0.1:${port}/test`, {
    command: program,
    args: settings,
    folder,
    says: ['stderr', 'ready for connections'],
    prepare: () =>
      run(installer, [
        '--no-defaults',
        `--datadir=${data}`,
        '--auth-root-authentication-method=normal',
        ...(user ? ['--user=mysql'] : []),
      ]),
  });
}

/** Debian has the server where only root looks. */
function find(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}
