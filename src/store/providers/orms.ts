/** An ORM that was passed directly, without its from… function. */
interface Orm {
  /** Members that identify it. */
  readonly has: readonly string[];
  readonly name: string;
  /** What to pass instead. */
  readonly by: string;
}

const ORMS: readonly Orm[] = [
  {
    has: ['select', 'insert', 'transaction', 'execute'],
    name: 'a Drizzle database',
    by: 'fromDrizzle(db)',
  },
  { has: ['selectFrom', 'updateTable'], name: 'a Kysely instance', by: 'fromKysely(db)' },
  {
    has: ['createQueryRunner', 'getRepository'],
    name: 'a DataSource of TypeORM',
    by: 'fromTypeOrm(dataSource)',
  },
  { has: ['$transaction', '$connect'], name: 'a client of Prisma', by: 'fromPrisma(prisma)' },
  { has: ['raw', 'queryBuilder'], name: 'a knex instance', by: 'fromKnex(knex)' },
];

const POSTGRES_JS: Orm = {
  has: ['begin', 'unsafe'],
  name: 'a client of postgres.js',
  by: 'fromPostgresJs(sql)',
};

/** The ORMs that run on Postgres. */
export const ORMS_ON_POSTGRES: readonly Orm[] = [...ORMS, POSTGRES_JS];
/** The ORMs that run on MySQL. */
export const ORMS_ON_MYSQL: readonly Orm[] = ORMS;

/** Returns which of `orms` the value is. */
export function describeOrm(value: unknown, orms: readonly Orm[]): Orm | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return undefined;
  return orms.find(({ has }) => has.every((name) => name in value));
}
