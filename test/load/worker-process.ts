import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorker } from '../services/bundle-worker.js';
import { cleanUpAtExit } from '../services/throwaway-server.js';
import type { AnswerMessage, CallMessage, Calls } from './worker-calls.js';

interface WaitingCall {
  resolve(value: unknown): void;
  reject(reason: Error): void;
}

/** A process of the run, asked by name to do things. */
export class WorkerProcess<Served extends Calls> {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #calls = new Map<number, WaitingCall>();
  readonly #forgetCleanUp = cleanUpAtExit(() => this.#cleanUp());
  #count = 0;
  #end: Error | undefined;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.on('message', (message: AnswerMessage) => {
      const call = this.#calls.get(message.id);
      this.#calls.delete(message.id);
      if ('failure' in message) call?.reject(new Error(message.failure));
      else call?.resolve(message.value);
    });
    child.on('exit', (code, signal) => {
      this.#end = new Error(`A process of the run ended: code ${code}, signal ${signal}`);
      for (const { reject } of this.#calls.values()) reject(this.#end);
    });
  }

  /**
   * Starts a worker from its source file, bundled and run by plain Node: a loader would be in the
   * memory that is measured.
   */
  static async start<Served extends Calls>(name: string): Promise<WorkerProcess<Served>> {
    const folder = mkdtempSync(join(tmpdir(), 'test-load-'));
    const outfile = join(folder, 'worker.cjs');
    await bundleWorker(new URL(`${name}.ts`, import.meta.url), outfile);
    const child = fork(outfile, [], {
      execArgv: ['--expose-gc'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    return new WorkerProcess<Served>(child, folder);
  }

  /** @throws {Error} what the worker threw, or that it has ended */
  call<Name extends keyof Served & string>(
    name: Name,
    ...[argument]: Parameters<Served[Name]>
  ): Promise<Awaited<ReturnType<Served[Name]>>> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    this.#count += 1;
    const message: CallMessage = { id: this.#count, name, argument };
    return new Promise((resolve, reject) => {
      const settle = resolve as (value: unknown) => void;
      this.#calls.set(message.id, { resolve: settle, reject });
      this.#child.send(message);
    });
  }

  stop(): void {
    this.#forgetCleanUp();
    this.#cleanUp();
  }

  #cleanUp(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
