import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bundleWorker } from '../services/bundle-worker.js';
import { cleanUpAtExit } from '../services/throwaway-server.js';
import type { WorkerMessage } from './worker-messages.js';

export interface FleetOptions {
  readonly size: number;
  readonly config: object;
  /**
   * The source of a process, beside this file.
   * @default worker.ts
   */
  readonly worker?: string;
  readonly random: () => number;
}

/** Receiver processes, each replaced by a new one when it is killed. */
export class Fleet {
  kills = 0;
  starts = 0;
  /** Exits that no kill of ours explains. */
  readonly crashes: string[] = [];
  /** How often `onError` received each error, by its code or message. */
  readonly errors = new Map<string, number>();
  readonly #options: FleetOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'test-chaos-'));
  readonly #processes = new Set<ChildProcess>();
  /** The port each process listens on, of those that do. */
  readonly #ports = new Map<ChildProcess, number>();
  readonly #forgetCleanUp = cleanUpAtExit(() => this.#cleanUp());
  #isStopped = false;

  private constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Resolves when every process listens. */
  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    try {
      // Once for all: compiling the sources at every start would cost more than the run itself.
      await bundleWorker(new URL(options.worker ?? 'worker.ts', import.meta.url), fleet.#file);
      await Promise.all(Array.from({ length: options.size }, () => fleet.#startProcess()));
    } catch (error) {
      fleet.stop();
      throw error;
    }
    return fleet;
  }

  /** Where one of the living processes listens. */
  pickPort(): number | undefined {
    return this.#pick([...this.#ports.values()]);
  }

  /** Kills a process every now and then until the signal aborts. */
  async killUntil(signal: AbortSignal, averageIntervalMs: number): Promise<void> {
    const { size, random } = this.#options;
    while (!signal.aborted) {
      await pause(averageIntervalMs * (0.5 + random()), undefined, { signal }).catch(() => {});
      // On a machine too slow to start them as fast, some are left to answer.
      if (!signal.aborted && this.#ports.size > size / 2) this.#killOne();
    }
  }

  stop(): void {
    this.#forgetCleanUp();
    this.#cleanUp();
  }

  #cleanUp(): void {
    this.#isStopped = true;
    for (const child of this.#processes) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#folder, 'worker.cjs');
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#options.random() * items.length)];
  }

  #killOne(): void {
    const child = this.#pick([...this.#ports.keys()]);
    if (child === undefined) return;
    this.#forget(child);
    child.kill('SIGKILL');
    this.kills += 1;
    // One that does not come up is among the crashes.
    this.#startProcess().catch(() => {});
  }

  #forget(child: ChildProcess): void {
    this.#ports.delete(child);
    this.#processes.delete(child);
  }

  #startProcess(): Promise<void> {
    const child = fork(this.#file, [JSON.stringify(this.#options.config)], { execArgv: [] });
    this.starts += 1;
    this.#processes.add(child);
    return new Promise((resolve, reject) => {
      child.on('message', (message: WorkerMessage) => {
        if ('error' in message) {
          this.errors.set(message.error, (this.errors.get(message.error) ?? 0) + 1);
          return;
        }
        // A message of one that was killed meanwhile may still arrive.
        if (this.#processes.has(child)) this.#ports.set(child, message.port);
        resolve();
      });
      child.on('exit', (code, signal) => {
        if (this.#processes.has(child) && !this.#isStopped) {
          this.crashes.push(`code ${code}, signal ${signal}`);
        }
        this.#forget(child);
        reject(new Error(`A receiver process ended: code ${code}, signal ${signal}`));
      });
    });
  }
}
