import type { Turns } from './turns.js';

interface Timer {
  readonly name: string;
  readonly atMs: number;
  go(): void;
}

/** A process of the shop with one delivery, from its arrival to its answer. */
export class Instance {
  readonly actor: string;
  readonly #turns: Turns;
  /** What its store has read, and what its work was told. */
  readonly seen: unknown[] = [];
  readonly begunAtMs: number;
  /** Whether its process stands still. */
  isStalled = false;
  /** Whether it has stood still. */
  hasStalled = false;
  /** The signal of its work, while that runs. */
  signal: AbortSignal | undefined;
  readonly #timers = new Set<Timer>();
  readonly #died: Promise<never>;
  #reject: (reason: Error) => void = () => undefined;

  constructor(actor: string, turns: Turns) {
    this.actor = actor;
    this.#turns = turns;
    this.begunAtMs = turns.nowMs;
    this.#died = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#died.catch(() => undefined);
  }

  /** The actor that is its work, which may go on when the store has given up. */
  get work(): string {
    return workOf(this.actor);
  }

  /** Waits for one of these steps of its own. */
  step(labels: () => readonly string[]): Promise<string> {
    return this.#turns.step(this.actor, labels);
  }

  /** Settles as `running` does, or rejects when the process dies. */
  untilDeath<Value>(running: Promise<Value>): Promise<Value> {
    return Promise.race([running, this.#died]);
  }

  die(): void {
    this.#timers.clear();
    for (const actor of [this.actor, this.work]) this.#turns.leave(actor);
    this.#reject(new Died());
  }

  /** Its process sets a timer. Returns what ends it. */
  wait(go: () => void, ms: number): () => void {
    const timer = { name: go.name, atMs: this.#turns.nowMs + ms, go };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The names of the timers that fire before any time passes. */
  get due(): readonly string[] {
    if (this.isStalled) return [];
    const isDue = ({ atMs }: Timer) => atMs <= this.#turns.nowMs;
    return [...this.#timers].filter(isDue).map(({ name }) => name);
  }

  fire(name: string): void {
    const timer = [...this.#timers].find((one) => one.name === name);
    if (timer === undefined) return;
    this.#timers.delete(timer);
    timer.go();
  }

  /** When its timers fire. */
  get timesMs(): readonly number[] {
    return [...this.#timers].map(({ atMs }) => atMs);
  }

  state(): unknown {
    const timers = [...this.#timers].map(({ name, atMs }) => [name, this.#turns.ageOf(atMs, 0)]);
    const age = timers.length > 0 && this.#turns.ageOf(this.begunAtMs);
    return [
      this.actor,
      this.seen,
      timers.sort(),
      age,
      this.isStalled,
      this.hasStalled,
      this.signal?.aborted,
    ];
  }
}

export function workOf(actor: string): string {
  return `${actor}, work`;
}

/** The process of a delivery has died, so that it is not answered. */
export class Died extends Error {}
