/** One way to use the package: the folder of that name, with its own package.json. */
export interface Consumer {
  readonly name: string;
  readonly manager: 'npm' | 'pnpm' | 'yarn';
  /** Folders whose programs it runs too. */
  readonly borrows?: readonly string[];
}

export const consumers: readonly Consumer[] = [
  { name: 'esm', manager: 'npm' },
  { name: 'typescript', manager: 'npm' },
  { name: 'bundlers', manager: 'npm' },
  { name: 'next', manager: 'npm' },
  { name: 'runners', manager: 'npm' },
  { name: 'pnpm', manager: 'pnpm', borrows: ['esm'] },
  { name: 'yarn-pnp', manager: 'yarn', borrows: ['esm'] },
];
