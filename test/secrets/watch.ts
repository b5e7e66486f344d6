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

/** What a watch has seen so far. */
export type Seen = Watch['seen'];

export interface Watch {
  readonly seen: {
    readonly errorNames: Set<string>;
    readonly codes: Set<string>;
    readonly channels: Set<string>;
    readonly exceptions: Set<Deliberate>;
    things: number;
  };
  /** Runs a walk while listening to everything that the package can say; the leaks it found. */
  leaksOf(walk: Walk): Promise<string[]>;
}

/** What it has seen is its own: the modules of the files of a worker are shared, and so would that be. */
export function createWatch(): Watch {
  const [errorNames, codes, channels] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const seen: Seen = { errorNames, codes, channels, exceptions: new Set(), things: 0 };
  return { seen, leaksOf: (walk) => leaksOf(walk, seen) };
}

async function leaksOf(walk: Walk, seen: Seen): Promise<string[]> {
  const leaks: string[] = [];
  const see: See = (what, value, exception) => {
    seen.things += 1;
    if (value instanceof Error) seen.errorNames.add(value.name);
    if (value instanceof MerchantPaymentsError) seen.codes.add(value.code);
    const used = () => {
      if (exception !== undefined) seen.exceptions.add(exception);
    };
    for (const leak of leaksIn(value, exception, used)) leaks.push(`${what} shows ${leak}`);
  };
  const stopListening = listen(see, (channel) => seen.channels.add(channel));
  try {
    await walk(see);
  } finally {
    // Warnings are emitted in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    stopListening();
  }
  return leaks;
}

/** What a value shows of what was planted, less what it may; `onUse` is called when it shows that. */
export function leaksIn(
  value: unknown,
  exception?: Deliberate,
  onUse: () => void = () => {},
): string[] {
  const allowed: readonly PlantedName[] =
    exception === undefined ? [] : deliberate[exception].shows;
  const leaks = new Map<string, string>();
  const searched = new Set<string | Uint8Array>();
  for (const { by, text } of shownBy(value)) {
    // Most ways of printing show the same.
    if (searched.has(text)) continue;
    searched.add(text);
    for (const { secret, spelling, piece } of find(text)) {
      if (allowed.includes(secret as PlantedName)) {
        onUse();
      } else if (!leaks.has(secret)) {
        leaks.set(secret, `${secret} as ${spelling} by ${by}: ${inspect(piece)}`);
      }
    }
  }
  return [...leaks.values()];
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

function listen(see: See, onChannel: (name: string) => void): () => void {
  const stops: (() => void)[] = [];
  for (const name of channelNames) {
    const listeners = Object.fromEntries(
      STAGES.map((stage) => [
        stage,
        (message: unknown) => {
          onChannel(name);
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
      .mockImplementation((...args: unknown[]) =>
        see(`console.${level}`, args, level === 'error' ? 'a line at warn or error' : undefined),
      );
    stops.push(() => spy.mockRestore());
  }
  const warned = (warning: Error) => see('a warning of the process', warning);
  process.on('warning', warned);
  stops.push(() => void process.off('warning', warned));
  return () => {
    for (const stop of stops) stop();
  };
}
