import { vi } from 'vitest';

interface Waiting {
  readonly isReady: () => boolean;
  go(): void;
}

/** The steps of several actors, of which one is taken at a time. */
export class Turns {
  readonly #choose: (count: number) => number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #killed = new Set<string>();
  #check: () => Promise<void> = async () => {};

  constructor(choose: (count: number) => number) {
    this.#choose = choose;
  }

  /** Waits until it is this actor's turn; never settles if the actor is dead. */
  step(actor: string): Promise<void> {
    return this.stepWhen(actor, () => true);
  }

  /** The same, as long as it can be. */
  stepWhen(actor: string, isReady: () => boolean): Promise<void> {
    if (this.#killed.has(actor)) return new Promise(() => {});
    return new Promise((resolve) => this.#waiting.set(actor, { isReady, go: resolve }));
  }

  /** Ends an actor where it stands. */
  kill(actor: string): void {
    this.#killed.add(actor);
    this.#waiting.delete(actor);
  }

  /** Checks what must hold at any time. */
  afterEach(check: () => Promise<void>): void {
    this.#check = check;
  }

  /** Plays until all have ended or are blocked. Time passes only when every actor is blocked. */
  async play(actors: readonly Promise<unknown>[]): Promise<void> {
    const failures: unknown[] = [];
    for (const actor of actors) actor.catch((error) => failures.push(error));
    for (;;) {
      await settled();
      if (failures.length > 0) throw failures[0];
      const ready = [...this.#waiting].filter(([, { isReady }]) => isReady()).sort();
      const chosen = ready[this.#choose(ready.length)];
      if (chosen !== undefined) {
        this.#waiting.delete(chosen[0]);
        chosen[1].go();
        await settled();
        await this.#check();
      } else if (vi.getTimerCount() > 0) {
        await vi.advanceTimersToNextTimerAsync();
      } else return;
    }
  }
}

// What the test fakes does not include it: all that promises lead to has happened then.
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Runs `play` once for every possible order of the steps.
 *
 * @returns how many there are
 */
export async function explore(play: (turns: Turns) => Promise<void>): Promise<number> {
  let path: { readonly count: number; choice: number }[] = [];
  for (let runs = 1; ; runs += 1) {
    let depth = 0;
    const choose = (count: number): number => {
      if (count === 0) return 0;
      const known = path[depth] ?? { count, choice: 0 };
      path[depth] = known;
      depth += 1;
      return known.choice;
    };
    const turns = new Turns(choose);
    try {
      await play(turns);
    } catch (error) {
      const order = path.map(({ choice }) => choice).join(' ');
      throw new Error(`in run ${runs}, order ${order}`, { cause: error });
    }
    vi.clearAllTimers();
    while (path.length > 0 && isLast(path.at(-1))) path = path.slice(0, -1);
    const last = path.at(-1);
    if (last === undefined) return runs;
    last.choice += 1;
  }
}

function isLast(place: { count: number; choice: number } | undefined): boolean {
  return place !== undefined && place.choice === place.count - 1;
}
