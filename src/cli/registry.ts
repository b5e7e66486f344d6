import type { Command } from './command.js';

type CommandLoader = () => Promise<Command>;
export type CommandGroup = Readonly<Record<string, CommandLoader>>;

const running = () => import('./commands/running-mock.js');
const lists = () => import('./commands/lists.js');
const faults = () => import('./commands/faults.js');

/** Every command, by what it is for. The module of a command is loaded only when needed. */
export const commandGroups: Readonly<Record<string, CommandGroup>> = {
  Run: {
    demo: async () => (await import('./commands/demo.js')).demo,
    mock: async () => (await import('./commands/mock.js')).mock,
    'payments create': async () => (await import('./commands/payments-create.js')).create,
    'payments set-status': async () => (await running()).setStatus,
    'deliveries resend': async () => (await running()).resend,
    'clock advance': async () => (await running()).advance,
    reset: async () => (await running()).reset,
  },
  Inspect: {
    'payments list': async () => (await lists()).listPayments,
    'payments show': async () => (await running()).showPayment,
    'deliveries list': async () => (await lists()).listDeliveries,
    'requests list': async () => (await lists()).listRequests,
  },
  Break: {
    'fault add': async () => (await faults()).add,
    'fault list': async () => (await faults()).list,
    'fault clear': async () => (await faults()).clear,
    'callback send': async () => (await import('./commands/callback-send.js')).send,
  },
  Check: {
    check: async () => (await import('./commands/check.js')).check,
    'callback verify': async () => (await import('./commands/callback-verify.js')).verify,
  },
};

/** Every command, by its name. */
export const commandLoaders: ReadonlyMap<string, CommandLoader> = new Map(
  Object.values(commandGroups).flatMap((group) => Object.entries(group)),
);

/** The commands whose name begins with this word, such as `payments`. */
export function commandsOf(word: string): string[] {
  return [...commandLoaders.keys()].filter((name) => name.startsWith(`${word} `));
}
