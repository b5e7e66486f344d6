import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { InvalidOptionError } from '../errors.js';
import { timers } from '../protocol/timers.js';
import { parseJson } from './api/http-messages.js';
import type { RecordedRequest } from './api/recorded-request.js';
import type { DeliveryAttempt, LiveDelivery } from './callbacks/delivery.js';
import type { MockPayment } from './state/payments.js';

/** What survives a restart. Lists are oldest first. */
export interface SavedState {
  readonly seed: number;
  /** How many identifiers were given, by purpose. */
  readonly ids: Readonly<Record<string, number>>;
  /** How far the clock was ahead of the system's, in milliseconds. */
  readonly aheadMs: number;
  readonly payments: readonly MockPayment[];
  readonly requests: readonly RecordedRequest[];
  readonly attempts: readonly DeliveryAttempt[];
  readonly deliveries: readonly LiveDelivery[];
}

const FORMAT = 1;
/** What happens within this time is written at once. */
const SAVE_AFTER_MS = 200;
export class StateFile {
  /** What it held at the start. */
  readonly saved: SavedState | undefined;
  readonly #file: string;
  #timer: NodeJS.Timeout | undefined;

  /** @throws {InvalidOptionError} when the file can't be read, or is no state of a mock */
  constructor(file: string) {
    this.#file = path.resolve(file);
    try {
      this.saved = fromText(readFileSync(this.#file, 'utf8'));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      const why =
        code === undefined
          ? 'holds no state of this mock: delete it, or name another file'
          : `can't be read (${code}): check its path and permissions`;
      throw new InvalidOptionError('stateFile', `stateFile ${this.#file} ${why}`);
    }
  }

  saveSoon(save: () => SavedState): void {
    this.#timer ??= timers.setTimeout(() => this.save(save()), SAVE_AFTER_MS);
    this.#timer.unref?.();
  }

  /** Replaces the file in one step, so that a process that is killed leaves the old one or the new one. */
  save(state: SavedState): void {
    timers.clearTimeout(this.#timer);
    this.#timer = undefined;
    const unfinished = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(unfinished, toText(state));
      renameSync(unfinished, this.#file);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const message = `Writing ${this.#file} failed with ${code}, so a restart forgets the mock's state`;
      process.emitWarning(message, { type: 'MockServerWarning', code: 'MOCK_STATE' });
    }
  }
}

const toText = ({ requests, attempts, deliveries, ...state }: SavedState): string =>
  JSON.stringify({
    format: FORMAT,
    ...state,
    requests: requests.map(({ json: _json, ...request }) => request),
    // The mock wrote the bodies, in UTF-8.
    attempts: attempts.map((one) => ({ ...one, rawBody: new TextDecoder().decode(one.rawBody) })),
    deliveries: deliveries.map(({ attempts: _attempts, ...delivery }) => delivery),
  });

function fromText(text: string): SavedState {
  const saved = parseJson(text) as (SavedState & { readonly format: unknown }) | undefined;
  if (saved?.format !== FORMAT) throw new TypeError('Another format');
  const attempts = saved.attempts.map(({ rawBody, sentAt, nextRetryAt, ...attempt }) => ({
    ...attempt,
    rawBody: new TextEncoder().encode(String(rawBody)),
    sentAt: new Date(sentAt),
    ...(nextRetryAt && { nextRetryAt: new Date(nextRetryAt) }),
  }));
  const attemptsOf = new Map<string, DeliveryAttempt[]>();
  for (const attempt of attempts) {
    const before = attemptsOf.get(attempt.deliveryId) ?? [];
    attemptsOf.set(attempt.deliveryId, [...before, attempt]);
  }
  return {
    ...saved,
    attempts,
    requests: saved.requests.map((request) => ({
      ...request,
      at: new Date(request.at),
      json: parseJson(request.body),
      // Its connection broke with the process.
      ended: true,
    })),
    deliveries: saved.deliveries.map((delivery) => ({
      ...delivery,
      attempts: attemptsOf.get(delivery.id) ?? [],
    })),
  };
}
