import { openPrisma } from './open-prisma.js';

export type { Prisma } from './generated/client.js';

const connectionString = process.env['DATABASE_URL'] ?? '';
// Prisma names the schema of every table, whatever the search_path says.
const [, schema = 'public'] = /search_path=(\w+)/.exec(decodeURIComponent(connectionString)) ?? [];

/** What the guide's sample for Prisma takes as the merchant's own client. */
export const prisma = await openPrisma({ connectionString }, schema);
