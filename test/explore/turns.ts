import { createHash } from 'node:crypto';

/** A step that can be taken now. */
export interface Step {
  readonly label: string;
  take(): void;
}

interface Waiting {
  readonly labels: () => readonly string[];
  go(label: string): void;
}

interface Mark {
  readonly actor: string;
  readonly atMs: number;
  readonly capMs: number;
}

/** Ages beyond this make no difference. */
const OLD_MS = 4_000;

/**
 * Several actors, each a program that waits for its turn before each of its steps. What an actor will do follows from
 * what it has seen since its call began, so this, with all that is stored, is the state of a run.
 */
export class Turns {
  nowMs = 0;
  /** The actor whose step was taken last. */
  current = '';
  /** Takes every step at once. */
  isAuto = false;
  /** The actor whose next step belongs to the one before. */
  #fresh = '';
  readonly #waiting = new Map<string, Waiting>();
  readonly #seen = new Map<string, string>();
  readonly #last = new Map<string, string>();
  readonly #marks = new Map<string, Mark>();
  readonly #dead = new Set<string>();

  /** Waits until one of these steps of the actor is taken. None can be while there are no labels. */
  step(
    actor: string,
    labels: () => readonly string[],
    { isNoted = true }: { readonly isNoted?: boolean } = {},
  ): Promise<string> {
    if (this.isAuto || this.#fresh === actor) {
      this.#fresh = '';
      return Promise.resolve(labels()[0] as string);
    }
    if (this.#dead.has(actor)) return new Promise(() => {});
    return new Promise((resolve) => {
      const go = (label: string) => {
        if (isNoted) this.note(actor, label);
        resolve(label);
      };
      this.#waiting.set(actor, { labels, go });
    });
  }

  /** An actor has seen something. What it sees again at once changes nothing: it only waits. */
  note(actor: string, seen: unknown): void {
    const text = typeof seen === 'string' ? seen : JSON.stringify(seen);
    if (this.#last.get(actor) === text) return;
    this.#last.set(actor, text);
    this.#seen.set(actor, `${this.#seen.get(actor) ?? ''} ${text}`);
  }

  /** An actor forgets what it has seen. */
  begin(actor: string, name = ''): void {
    this.#seen.set(actor, name);
    this.#last.delete(actor);
    for (const [key, mark] of this.#marks) if (mark.actor === actor) this.#marks.delete(key);
  }

  /** The same, and waits. The first step of what follows is taken with this one. */
  async start(actor: string, name: string, isReady: () => boolean): Promise<void> {
    this.begin(actor, name);
    await this.step(actor, () => (isReady() ? [`starts ${name}`] : []));
    this.#fresh = actor;
  }

  /** An actor has looked at its clock, and will compare that time. Ages beyond `capMs` make no difference to it. */
  mark(actor: string, what: string, capMs: number): void {
    this.#marks.set(`${actor} ${what}`, { actor, atMs: this.nowMs, capMs });
  }

  unmark(actor: string, what: string): void {
    this.#marks.delete(`${actor} ${what}`);
  }

  /** Ends an actor where it stands. */
  kill(actor: string): void {
    this.#dead.add(actor);
    this.leave(actor);
    this.begin(actor, 'dead');
  }

  /** Ends what an actor waits for. It may come again. */
  leave(actor: string): void {
    this.#waiting.delete(actor);
  }

  get waiting(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  isWaitingFor(actor: string, label: string): boolean {
    return this.#waiting.get(actor)?.labels().includes(label) === true;
  }

  steps(): Step[] {
    return [...this.#waiting].flatMap(([actor, waiting]) =>
      waiting.labels().map((label) => this.#toStep(actor, waiting, label)),
    );
  }

  /** The step with this label, if it can be taken. */
  find(wanted: string): Step | undefined {
    for (const [actor, waiting] of this.#waiting) {
      if (!wanted.startsWith(`${actor} `)) continue;
      const label = wanted.slice(actor.length + 1);
      if (waiting.labels().includes(label)) return this.#toStep(actor, waiting, label);
    }
    return undefined;
  }

  #toStep(actor: string, { go }: Waiting, label: string): Step {
    const take = () => {
      this.#waiting.delete(actor);
      this.current = actor;
      go(label);
    };
    return { label: `${actor} ${label}`, take };
  }

  /** Negative for a time to come. */
  ageOf(atMs: number | undefined, capMs: number = OLD_MS): number | undefined {
    return atMs === undefined ? undefined : Math.min(this.nowMs - atMs, capMs);
  }

  state(): string {
    const marksOf = (actor: string) =>
      [...this.#marks.values()]
        .filter((mark) => mark.actor === actor)
        .map(({ atMs, capMs }) => this.ageOf(atMs, capMs));
    const waiting = this.waiting.map((actor) => [actor, this.#seen.get(actor), marksOf(actor)]);
    return JSON.stringify([waiting.sort(), [...this.#dead]]);
  }
}

export function digest(text: string): string {
  return createHash('md5').update(text).digest('base64').slice(0, 16);
}
