import type { ServerResponse } from 'node:http';
import { type Change, clock } from './shop.js';
import { flawed, type WrongHandler } from './wrong-handler.js';
import { hasty, ordered, repeated } from './wrong-processing.js';
import { habits } from './wrong-signing.js';
import { surroundings } from './wrong-surroundings.js';
import { careless, inexact, wrongWindows } from './wrong-verification.js';

const narrowMinded: readonly WrongHandler[] = [
  flawed('throws on a status that it does not know', 'unknown-status', () => ({
    isValid({ status }) {
      if (status === 'paid') return true;
      throw new Error(`unhandled status ${status}`);
    },
  })),
  flawed('takes every status for paid', 'unknown-status-effect', (shop) => ({
    act: (payment) => shop.act({ ...payment, status: 'paid' }),
  })),
  flawed(
    'falls over JSON that is none, and is not there for a moment',
    'malformed-body',
    (shop) => {
      let isDown = false;
      return {
        async handle(request, response) {
          if (!isDown) return shop.handle(request, response);
          isDown = false;
          request.socket.destroy();
        },
        isAuthentic(callback) {
          try {
            JSON.parse(callback.body.toString()).status.trim();
          } catch {
            isDown = true;
            throw new Error('uncaught');
          }
          return shop.isAuthentic(callback);
        },
      };
    },
  ),
  flawed('has a strict schema', 'extra-fields', () => ({
    isValid: (payment) => Object.keys(payment).length <= 6,
  })),
  flawed('wants every field filled', 'missing-fields', () => ({
    isValid: (payment) => Object.values(payment).every(Boolean),
  })),
];

const answers =
  (answer: (response: ServerResponse, status: number) => unknown): Change =>
  () => ({ answer: (response, status) => void answer(response, status) });

const unpunctual: readonly WrongHandler[] = [
  flawed(
    'answers 204',
    'status-200',
    answers((response, status) => response.writeHead(status === 200 ? 204 : status).end()),
  ),
  flawed(
    'answers 200, and fails to store the change',
    'valid-effect',
    () => ({ process: async () => 200 }),
    /0 effects for one callback, but 1 was expected .*after the change is stored/,
  ),
];

const boundless: readonly WrongHandler[] = [
  flawed('reads a body of any size', 'large-body', () => ({
    read: async (request) => Buffer.concat(await request.toArray()),
  })),
  flawed(
    'answers 500 to a large body',
    'large-body',
    answers((response, status) => response.writeHead(status === 413 ? 500 : status).end()),
  ),
  flawed(
    'never answers a large body',
    'large-body',
    answers((response, status) =>
      status === 413 ? clock.pause(10_000) : response.writeHead(status).end(),
    ),
  ),
];

const kinds = [
  careless,
  inexact,
  wrongWindows,
  narrowMinded,
  repeated,
  ordered,
  hasty,
  unpunctual,
  boundless,
  habits,
];

/** One of each kind, and those with which the run soon ends. */
export const usualFlaws = [...kinds.flatMap((kind) => kind.slice(0, 1)), ...surroundings];

export const furtherFlaws = kinds.flatMap((kind) => kind.slice(1));
