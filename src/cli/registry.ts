import type { Command } from './command.js';

type CommandLoader = () => Promise<{ readonly command: Command }>;

/** Every command, in the order of the help. A module is loaded when its command is called. */
export const commandLoaders: ReadonlyMap<string, CommandLoader> = new Map<string, CommandLoader>([
  ['mock', () => import('./commands/mock.js')],
  ['payments create', () => import('./commands/payments-create.js')],
  ['payments list', () => import('./commands/payments-list.js')],
  ['payments set-status', () => import('./commands/payments-set-status.js')],
  ['deliveries list', () => import('./commands/deliveries-list.js')],
  ['deliveries resend', () => import('./commands/deliveries-resend.js')],
  ['fault add', () => import('./commands/fault-add.js')],
  ['fault list', () => import('./commands/fault-list.js')],
  ['fault clear', () => import('./commands/fault-clear.js')],
  ['clock advance', () => import('./commands/clock-advance.js')],
  ['callback sign', () => import('./commands/callback-sign.js')],
  ['callback send', () => import('./commands/callback-send.js')],
  ['callback verify', () => import('./commands/callback-verify.js')],
  ['check', () => import('./commands/check.js')],
]);

/** The commands whose name begins with the word `group`. */
export function commandsOfGroup(group: string): string[] {
  return [...commandLoaders.keys()].filter((name) => name.startsWith(`${group} `));
}
