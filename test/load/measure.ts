import diagnosticsChannel from 'node:diagnostics_channel';
import { readdirSync, readlinkSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** What a process holds that is counted, not weighed. */
export interface Handles {
  /** What keeps the event loop alive, sockets and timers among it, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /** Open files by kind; nothing where the system does not tell. */
  readonly files: Readonly<Record<string, number>>;
  /** Listeners on what is shared, by name. */
  readonly listeners: Readonly<Record<string, number>>;
}

/** What a process holds. */
export interface Holdings {
  /** Bytes in use on the heap after garbage collection. */
  readonly heapUsed: number;
  /** Bytes beside the heap that belong to its objects: buffers. */
  readonly external: number;
  /** Only told: what the allocator keeps for later is in it. */
  readonly rss: number;
  /** Only told: the longest time for which the event loop stood still, in milliseconds. */
  readonly longestStallMs: number;
  readonly handles: Handles;
  readonly handlesAtStart: Handles;
}

/** What must not happen in a process at all. */
const alarms: string[] = [];

// Before anything else runs: the first of them may come at once.
process.on('warning', (warning) => alarms.push(`process warning: ${warning.stack}`));
process.on('unhandledRejection', (reason) =>
  alarms.push(`unhandled rejection: ${stackOf(reason)}`),
);
process.on('uncaughtException', (error) => alarms.push(`uncaught exception: ${stackOf(error)}`));

export function listAlarms(): readonly string[] {
  return alarms;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}

/** Idle connections of undici and of Node's server close after 4 and 5 seconds, on a machine at rest. */
const PATIENCE_MS = 60_000;
const INTERVAL_MS = 100;

/** Knows what its process held before any traffic. */
export class Gauge {
  readonly #countListeners: () => Readonly<Record<string, number>>;
  readonly #atStart: Handles;
  readonly #loopDelay = monitorEventLoopDelay({ resolution: 20 });

  /** @param countListeners - listeners on objects that live as long as the process */
  constructor(countListeners: () => Readonly<Record<string, number>>) {
    this.#countListeners = countListeners;
    this.#loopDelay.enable();
    // Opened at first use, and a handle from then on where it is a pipe.
    void process.stderr;
    this.#atStart = this.#count();
  }

  /**
   * Waits until the process holds no more than before any traffic, for as long as idle connections
   * may live. What is held beyond that time is in the figures.
   */
  async rest(): Promise<void> {
    const endMs = performance.now() + PATIENCE_MS;
    while (!isDeepStrictEqual(this.#count(), this.#atStart) && performance.now() < endMs) {
      await pause(INTERVAL_MS);
      // Past the turn of the timer that has just run.
      await nextTurn();
    }
  }

  async measure(): Promise<Holdings> {
    await this.rest();
    const handles = this.#count();
    await collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const longestStallMs = this.#loopDelay.max / 1e6;
    return { heapUsed, external, rss, longestStallMs, handles, handlesAtStart: this.#atStart };
  }

  #count(): Handles {
    return {
      resources: countResources(),
      files: countFiles(),
      listeners: this.#listListeners(),
    };
  }

  #listListeners(): Record<string, number> {
    return sortedCounts([
      ...process
        .eventNames()
        .map((name) => [`process ${String(name)}`, process.listenerCount(name)]),
      ...CHANNELS.map((name) => [
        `channel ${name}`,
        Number(diagnosticsChannel.channel(name).hasSubscribers),
      ]),
      ...Object.entries(this.#countListeners()),
    ] as [string, number][]);
  }
}

const CHANNELS = [
  'undici:client:connected',
  'undici:request:create',
  'undici:request:headers',
  'http.client.request.start',
  'http.server.request.start',
  ...['merchant-payments:request', 'merchant-payments:callback'].flatMap((name) =>
    ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((part) => `tracing:${name}:${part}`),
  ),
];

function countResources(): Record<string, number> {
  return countEach(process.getActiveResourcesInfo());
}

function countFiles(): Record<string, number> {
  const folder = '/proc/self/fd';
  try {
    // The listing itself opens one, which is gone when its link is read.
    return countEach(readdirSync(folder).flatMap((name) => describeFile(`${folder}/${name}`)));
  } catch {
    return {};
  }
}

function describeFile(link: string): string[] {
  try {
    return [readlinkSync(link).replace(/:.*/, '')];
  } catch {
    return [];
  }
}

function countEach(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return sortedCounts([...counts]);
}

function sortedCounts(entries: readonly [string, number][]): Record<string, number> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
}

// Several times, in turns of their own: finalizers and weak references free the next generation.
async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 6; round += 1) {
    globalThis.gc?.();
    await nextTurn();
  }
}
