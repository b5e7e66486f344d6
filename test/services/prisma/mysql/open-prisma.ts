import { PrismaClient } from './generated/client.js';

// By a name that the compiler does not follow: the package is there only when these tests have installed it.
const ADAPTER: string = '@prisma/adapter-mariadb';

/** A client of Prisma whose tables are in the database of the URL. */
export async function openPrisma(
  url: string,
  { max = 10, useTextProtocol = true }: { max?: number; useTextProtocol?: boolean } = {},
): Promise<PrismaClient> {
  const { PrismaMariaDb } = await import(ADAPTER);
  const { hostname, port, username, password, pathname } = new URL(url);
  const config = {
    host: hostname,
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    connectionLimit: max,
  };
  const adapter = new PrismaMariaDb(config, { useTextProtocol });
  return new PrismaClient({ adapter });
}
