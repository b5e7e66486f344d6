import { tracingChannel } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { vi } from 'vitest';
import { MerchantPaymentsError } from '../../src/errors.js';
import { type Deliberate, deliberate } from './deliberate.js';
import { type PlantedName, planted } from './planted.js';
import { createSearch, type Leak } from './search.js';
import { shownBy } from './shown.js';

/** Looks at something that can be seen: `what` says what, `exception` what it may show. */
export type See = (what: string, value: unknown, exception?: Deliberate) => void;
export type Walk = (see: See) => void | Promise<void>;
/** The things to do with an export, by what is done. */
export type Walks = Readonly<Record<string, Readonly<Record<string, Walk>>>>;

const search = createSearch(planted);

// The same names, texts and lines of stacks come by the thousand.
const clean = new Set<string>();

function find(text: string | Uint8Array): Leak[] {
  if (typeof text !== 'string') return search(text);
  if (clean.has(text)) return [];
  const leaks = search(text);
  if (leaks.length === 0 && text.length < 500) clean.add(text);
  return leaks;
}

/** What has been seen so far, in all. */
export const seen = {
  errorNames: new Set<string>(),
  codes: new Set<string>(),
  channels: new Set<string>(),
  exceptions: new Set<Deliberate>(),
  things: 0,
};

/** Begins anew: the files of a worker share what has been seen. */
export function forgetSeen(): void {
  for (const set of [seen.errorNames, seen.codes, seen.channels, seen.exceptions]) set.clear();
}

/** Runs a walk while listening to everything that the package can say; the leaks it found. */
export async function leaksOf(walk: Walk): Promise<string[]> {
  const leaks: string[] = [];
  const see: See = (what, value, exception) => {
    seen.things += 1;
    noteError(value);
    for (const leak of leaksIn(value, exception)) leaks.push(`${what} shows ${leak}`);
  };
  const stopListening = listen(see);
  try {
    await walk(see);
  } finally {
    // Warnings are emitted in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    stopListening();
  }
  return leaks;
}

/** What a value shows of what was planted, less what it may. */
export function leaksIn(value: unknown, exception?: Deliberate): string[] {
  const allowed: readonly PlantedName[] =
    exception === undefined ? [] : deliberate[exception].shows;
  const leaks = new Map<string, string>();
  for (const { by, text } of shownBy(value)) {
    for (const { secret, spelling, piece } of find(text)) {
      if (allowed.includes(secret as PlantedName)) {
        if (exception !== undefined) seen.exceptions.add(exception);
      } else if (!leaks.has(secret)) {
        leaks.set(secret, `${secret} as ${spelling} by ${by}: ${inspect(piece)}`);
      }
    }
  }
  return [...leaks.values()];
}

function noteError(value: unknown): void {
  if (!(value instanceof Error)) return;
  seen.errorNames.add(value.name);
  if (value instanceof MerchantPaymentsError) seen.codes.add(value.code);
}

/** The names of the package's channels, from its sources. */
export const channelNames: readonly string[] = [
  ...new Set(
    readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const source = readFileSync(path.join('src', file), 'utf8');
        const calls = source.matchAll(/[cC]hannel(?:<[^>]*>)?\(\s*['"`]([^'"`]+)['"`]/g);
        return Array.from(calls, ([, name = '']) => name);
      }),
  ),
];

const CONSOLE = ['log', 'info', 'debug', 'warn', 'error', 'trace', 'dir', 'table'] as const;
const STAGES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

function listen(see: See): () => void {
  const stops: (() => void)[] = [];
  for (const name of channelNames) {
    const listeners = Object.fromEntries(
      STAGES.map((stage) => [
        stage,
        (message: unknown) => {
          seen.channels.add(name);
          see(`the ${stage} of ${name}`, message);
        },
      ]),
    ) as unknown as Parameters<ReturnType<typeof tracingChannel>['subscribe']>[0];
    const channel = tracingChannel(name);
    channel.subscribe(listeners);
    stops.push(() => void channel.unsubscribe(listeners));
  }
  for (const level of CONSOLE) {
    const spy = vi
      .spyOn(console, level)
      .mockImplementation((...args: unknown[]) => see(`console.${level}`, args));
    stops.push(() => spy.mockRestore());
  }
  const warned = (warning: Error) => see('a warning of the process', warning);
  process.on('warning', warned);
  stops.push(() => void process.off('warning', warned));
  return () => {
    for (const stop of stops) stop();
  };
}
