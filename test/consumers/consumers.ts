/** One way to use the package: the folder of that name, with its own package.json and lockfile. */
export interface Consumer {
  readonly name: string;
  /** Whether CI runs it at every change; the others run at night. */
  readonly quick: boolean;
  readonly manager: 'npm' | 'pnpm' | 'yarn';
  /** Folders whose programs it runs too. */
  readonly borrows?: readonly string[];
}

export const consumers: readonly Consumer[] = [
  { name: 'cjs', quick: true, manager: 'npm' },
  { name: 'esm', quick: true, manager: 'npm' },
  { name: 'two-copies', quick: true, manager: 'npm' },
  { name: 'typescript', quick: true, manager: 'npm' },
  { name: 'bundlers', quick: false, manager: 'npm' },
  { name: 'nest-jest', quick: false, manager: 'npm' },
  { name: 'next', quick: false, manager: 'npm' },
  { name: 'runners', quick: false, manager: 'npm' },
  { name: 'pnpm', quick: false, manager: 'pnpm', borrows: ['cjs', 'esm'] },
  { name: 'yarn-pnp', quick: false, manager: 'yarn', borrows: ['cjs', 'esm'] },
];
