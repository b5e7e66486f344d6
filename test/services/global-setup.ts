import { type FoundServer, findMysql, findPostgres, findRedis } from './find-servers.js';
import { hasMariadb } from './start-mariadb.js';
import { hasPgbouncer } from './start-pgbouncer.js';
import { hasPostgres } from './start-postgres.js';
import { hasRedis } from './start-redis.js';

/** Hands the tests their servers in DATABASE_URL, MYSQL_URL and REDIS_URL; those without one skip themselves. */
export default async function setUpServers(): Promise<() => Promise<void>> {
  const servers = {
    Postgres: { variable: 'DATABASE_URL', found: await findPostgres() },
    'MySQL or MariaDB': { variable: 'MYSQL_URL', found: await findMysql() },
    Redis: { variable: 'REDIS_URL', found: await findRedis() },
  };
  const stop = () => stopAll(Object.values(servers).flatMap(({ found }) => (found ? [found] : [])));

  const missing: string[] = [];
  for (const [name, { variable, found }] of Object.entries(servers)) {
    if (found) {
      process.env[variable] = found.url;
      console.log(`${name}: ${found.source}`);
    } else {
      missing.push(name);
      console.log(
        `${name}: none found, its tests are skipped (set ${variable}, or install the server)`,
      );
    }
  }
  // The crash test needs the programs, as it kills the servers it starts.
  if (!hasPostgres) missing.push('pg_ctl');
  if (!hasMariadb) missing.push('mariadbd');
  if (!hasRedis) missing.push('redis-server');
  if (!hasPgbouncer) {
    missing.push('pgbouncer');
    console.log('pgbouncer: not installed, its tests are skipped');
  }
  if (missing.length > 0 && process.env['CI'] === 'true') {
    await stop();
    throw new Error(
      `CI must run the tests of every server, but there is no ${missing.join(', no ')}`,
    );
  }
  return stop;
}

async function stopAll(servers: readonly FoundServer[]): Promise<void> {
  await Promise.all(servers.map(({ stop }) => stop?.()));
}
