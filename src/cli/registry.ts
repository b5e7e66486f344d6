import type { Command } from './command.js';

type CommandLoader = () => Promise<Command>;

/** Every command, in the order of the help. The module of a command is loaded only when needed. */
export const commandLoaders: ReadonlyMap<string, CommandLoader> = new Map<string, CommandLoader>([
  ['mock', async () => (await import('./commands/mock.js')).mock],
  ['payments create', async () => (await import('./commands/payments-create.js')).create],
  ['payments list', async () => (await import('./commands/payments.js')).list],
  ['payments show', async () => (await import('./commands/payments.js')).show],
  ['payments set-status', async () => (await import('./commands/payments.js')).setStatus],
  ['deliveries list', async () => (await import('./commands/deliveries.js')).list],
  ['deliveries resend', async () => (await import('./commands/deliveries.js')).resend],
  ['requests list', async () => (await import('./commands/running-mock.js')).listRequests],
  ['fault add', async () => (await import('./commands/faults.js')).add],
  ['fault list', async () => (await import('./commands/faults.js')).list],
  ['fault remove', async () => (await import('./commands/faults.js')).remove],
  ['fault clear', async () => (await import('./commands/faults.js')).clear],
  ['clock advance', async () => (await import('./commands/running-mock.js')).advance],
  ['reset', async () => (await import('./commands/running-mock.js')).reset],
  ['tail', async () => (await import('./commands/running-mock.js')).tail],
  ['callback sign', async () => (await import('./commands/callback-sign.js')).sign],
  ['callback send', async () => (await import('./commands/callback-send.js')).send],
  ['callback verify', async () => (await import('./commands/callback-verify.js')).verify],
  ['discover', async () => (await import('./commands/discover.js')).discover],
  ['check', async () => (await import('./commands/check.js')).check],
  ['completion', async () => (await import('./commands/completion.js')).completion],
]);

/** The commands whose name begins with the word `group`. */
export function commandsOfGroup(group: string): string[] {
  return [...commandLoaders.keys()].filter((name) => name.startsWith(`${group} `));
}
