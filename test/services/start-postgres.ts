import { execFile, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import {
  cleanUpAtExit,
  findFreePort,
  serverUser,
  type ThrowawayServer,
} from './throwaway-server.js';

const run = promisify(execFile);
const binFolder = findBinFolder();

/** Whether the programs of a Postgres server are installed. */
export const hasPostgres = binFolder !== undefined;

/** Starts a Postgres server of the tests' own. It has one user, `postgres`, who needs no password. */
export async function startPostgres(): Promise<ThrowawayServer> {
  if (binFolder === undefined) {
    throw new Error('Postgres is not installed: neither /usr/lib/postgresql nor PATH has pg_ctl');
  }
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'test-postgres-'));
  const user = serverUser('postgres');
  if (user) chownSync(folder, user.uid, user.gid);
  const control = join(binFolder, 'pg_ctl');
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const options = { cwd: folder, ...user };
  const settings = [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    '-c unix_socket_directories=',
    // The machine does not crash, only the server: what was written is in the files.
    '-c fsync=off',
  ].join(' ');

  let isRunning = false;
  const start = async (): Promise<void> => {
    await run(control, ['start', '-w', '-D', data, '-l', log, '-o', settings], options).catch(
      (error: unknown) => {
        const said = existsSync(log) ? readFileSync(log, 'utf8') : '';
        throw new Error(`Postgres did not start. It said:\n${said}`, { cause: error });
      },
    );
    isRunning = true;
  };
  const end = async (mode: 'fast' | 'immediate'): Promise<void> => {
    if (!isRunning) return;
    await run(control, ['stop', '-w', '-D', data, '-m', mode], options);
    isRunning = false;
  };

  const forget = cleanUpAtExit(() => {
    try {
      const args = ['stop', '-w', '-D', data, '-m', 'immediate'];
      if (isRunning) execFileSync(control, args, { ...options, stdio: 'ignore' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  const discard = (): void => {
    rmSync(folder, { recursive: true, force: true });
    forget();
  };

  try {
    const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale'];
    await run(join(binFolder, 'initdb'), [...args, '--no-sync'], options);
    await start();
  } catch (error) {
    discard();
    throw error;
  }
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    kill: () => end('immediate'),
    async restart() {
      await end('fast');
      await start();
    },
    async stop() {
      await end('fast');
      discard();
    },
  };
}

function findBinFolder(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const folders = [
    ...versions
      .sort((one, other) => Number(other) - Number(one))
      .map((one) => `${debian}/${one}/bin`),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) =>
    ['initdb', 'pg_ctl'].every((program) => folder !== '' && existsSync(join(folder, program))),
  );
}
