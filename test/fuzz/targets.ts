import { fuzzNodeAdapter } from './callback/node-adapter.js';
import { fuzzRecords } from './callback/records.js';
import { fuzzVerifiers } from './callback/verifiers.js';
import { fuzzCalls } from './client/calls.js';
import type { FuzzOptions, FuzzResult } from './property-runs.js';
import { fuzzDiagnoses } from './workbench/diagnoses.js';
import { fuzzGateway } from './workbench/gateway.js';
import { fuzzLambdaEvents } from './workbench/lambda-events.js';

/** Something that is fuzzed, and how long. */
export interface FuzzTarget {
  readonly name: string;
  /** What one case is. */
  readonly unit: string;
  /** How many in a full run, and how many in the ordinary tests. */
  readonly cases: number;
  readonly quickCases: number;
  readonly needsPython: boolean;
  run(options: FuzzOptions): Promise<FuzzResult>;
}

/** All but the stores, which are opened first. */
export const targets: readonly FuzzTarget[] = [
  {
    name: 'verifiers',
    unit: 'callbacks, each to node:crypto, WebCrypto and the receiver, against Python',
    cases: 400_000,
    quickCases: 2_000,
    needsPython: true,
    run: fuzzVerifiers,
  },
  {
    name: 'node-adapter',
    unit: 'requests as bytes on a socket, against Python',
    cases: 20_000,
    quickCases: 300,
    needsPython: true,
    run: fuzzNodeAdapter,
  },
  {
    name: 'records',
    unit: 'authentic bodies, to node:crypto and WebCrypto',
    cases: 200_000,
    quickCases: 2_000,
    needsPython: false,
    run: fuzzRecords,
  },
  {
    name: 'client-undici',
    unit: 'calls answered with bytes',
    cases: 30_000,
    quickCases: 300,
    needsPython: false,
    run: (options) => fuzzCalls('undici', options),
  },
  {
    name: 'client-fetch',
    unit: 'calls answered with bytes',
    cases: 30_000,
    quickCases: 300,
    needsPython: false,
    run: (options) => fuzzCalls('fetch', options),
  },
  {
    name: 'lambda',
    unit: 'events',
    cases: 200_000,
    quickCases: 2_000,
    needsPython: false,
    run: fuzzLambdaEvents,
  },
  {
    name: 'gateway',
    unit: 'requests to the mock service',
    cases: 100_000,
    quickCases: 1_000,
    needsPython: false,
    run: fuzzGateway,
  },
  {
    name: 'diagnosis',
    unit: 'callbacks, diagnosed',
    cases: 10_000,
    quickCases: 40,
    needsPython: false,
    run: fuzzDiagnoses,
  },
];
