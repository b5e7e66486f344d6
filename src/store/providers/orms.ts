/** A method of each ORM's database object, and the function that takes it. */
const ORMS = [
  ['selectFrom', 'fromKysely(db)'],
  ['createQueryRunner', 'fromTypeOrm(dataSource)'],
  ['$transaction', 'fromPrisma(prisma)'],
  ['queryBuilder', 'fromKnex(knex)'],
  ['unsafe', 'fromPostgresJs(sql)'],
  // knex has it too, and is found first.
  ['insert', 'fromDrizzle(db)'],
] as const;

/** What to pass in place of an ORM's own object; undefined for anything else. */
export function toPassFor(value: unknown): string | undefined {
  return ORMS.find(([method]) => method in Object(value))?.[1];
}
