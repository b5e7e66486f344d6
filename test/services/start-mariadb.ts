import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { cleanUpAtExit, findFreePort, type ThrowawayServer } from './throwaway-server.js';

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
  const user = serverUser();
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

  let server: ChildProcess | undefined;
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const ending = server;
    server = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
  };
  const start = async (): Promise<void> => {
    server = spawn(program, settings, { stdio: ['ignore', 'ignore', 'pipe'] });
    await isReady(server);
  };
  const forget = cleanUpAtExit(() => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    forget();
  };

  try {
    await run(installer, [
      '--no-defaults',
      `--datadir=${data}`,
      '--auth-root-authentication-method=normal',
      ...(user ? ['--user=mysql'] : []),
    ]);
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `mysql://root@127.0.0.1:${port}/test`,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      await start();
    },
    stop,
  };
}

async function isReady({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error('MariaDB has no output to read');
  const said: string[] = [];
  const lines = createInterface(stderr);
  for await (const line of lines) {
    said.push(line);
    if (line.includes('ready for connections')) break;
  }
  const ended = stderr.readableEnded;
  // What it says from now on is not kept, and must not fill the pipe.
  stderr.resume();
  if (ended) throw new Error(`MariaDB did not start. It said:\n${said.join('\n')}`);
}

/** Debian has the server where only root looks. */
function find(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find(isThere);
}

function isThere(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Whom the server runs as: it refuses to run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) =>
    Number(spawnSync('id', [flag, 'mysql'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}
