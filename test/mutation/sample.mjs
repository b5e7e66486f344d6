// A checker for Stryker that lets a share of the mutants pass, chosen by a seed: MUTATION_SHARE and MUTATION_SEED. A
// mutant of code for the databases takes seconds, so all mutants of a part would take a night.
import { createHash } from 'node:crypto';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';

const SHARE = Number(process.env.MUTATION_SHARE ?? 1);
const SEED = process.env.MUTATION_SEED ?? '';

function isInSample({ fileName, location, replacement }) {
  const mutant = JSON.stringify([SEED, fileName.split('/src/').at(-1), location, replacement]);
  return createHash('sha256').update(mutant).digest().readUInt32BE() < SHARE * 2 ** 32;
}

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.Checker, 'sample', () => ({
    init: async () => undefined,
    check: async (mutants) =>
      Object.fromEntries(
        mutants.map((mutant) => [
          mutant.id,
          isInSample(mutant)
            ? { status: 'passed' }
            : { status: 'compileError', reason: 'not in the sample' },
        ]),
      ),
  })),
];
