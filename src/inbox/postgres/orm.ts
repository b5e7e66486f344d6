/** An ORM's own object, by what it alone has, and what to pass in its place. */
const ORMS: readonly { readonly has: readonly string[]; readonly name: string }[] = [
  { has: ['$client', 'select', 'insert'], name: 'a Drizzle database (pass its pool: db.$client)' },
  { has: ['selectFrom', 'updateTable'], name: 'a Kysely (pass the pool of its dialect)' },
  {
    has: ['createQueryRunner', 'getRepository'],
    name: 'a DataSource of TypeORM (pass the pool of its driver: dataSource.driver.master)',
  },
  { has: ['$transaction', '$connect'], name: 'a client of Prisma' },
  { has: ['raw', 'queryBuilder'], name: 'a knex (its own pool cannot be shared)' },
  { has: ['begin', 'unsafe'], name: 'a client of postgres.js' },
];

/** What kind of ORM or driver `value` is, when it is one whose pool was meant. */
export function describeOrm(value: unknown): string | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return undefined;
  return ORMS.find(({ has }) => has.every((name) => name in value))?.name;
}
