import type { PoolConfig } from 'pg';
import { PrismaClient } from './generated/client.js';

// By a name that the compiler does not follow: the package is there only when these tests have installed it.
const ADAPTER: string = '@prisma/adapter-pg';

/** A client of Prisma whose tables are in a schema. */
export async function openPrisma(config: PoolConfig, schema: string): Promise<PrismaClient> {
  const { PrismaPg } = await import(ADAPTER);
  const onPoolError = () => undefined;
  const onConnectionError = () => undefined;
  const adapter = new PrismaPg(config, { schema, onPoolError, onConnectionError });
  return new PrismaClient({ adapter });
}
