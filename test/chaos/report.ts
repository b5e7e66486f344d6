import type { Delivery, DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import type { Fleet } from './fleet.js';
import { countEffects, findMistakes, type Guarantee, type History } from './history.js';
import { findOrderMistakes } from './order-history.js';
import { isWithin, type Outage } from './outage.js';
import type { Traffic } from './traffic.js';

/** The result of a run. */
export interface Report {
  /** What must not have happened: one line for each mistake. */
  readonly mistakes: readonly string[];
  /** The run in figures. */
  readonly counts: Readonly<Record<string, number>>;
  /** All of it, to print. */
  readonly text: string;
}

interface Findings extends Omit<History, 'changes'> {
  /** What was tested. */
  readonly subject: string;
  readonly seed: number;
  readonly payments: number;
  readonly guarantee: Guarantee;
  readonly fleet: Pick<Fleet, 'kills' | 'starts' | 'crashes' | 'errors'>;
  readonly traffic: Traffic;
  readonly outages: readonly Outage[];
  readonly isReadableWhileDown: boolean;
  readonly durationMs: number;
  /** What a run finds besides. */
  readonly more?: { readonly mistakes: readonly string[]; readonly counts: Report['counts'] };
}

const EXPECTED_RESULTS = ['reply 200', 'reply 500', 'reply 503', 'connection broken'];
// Without its store a receiver can't know that the work is done.
const EXPECTED_IN_OUTAGE = EXPECTED_RESULTS.filter((result) => result !== 'reply 200');
const SHOWN_MISTAKES = 20;

export function createReport(findings: Findings): Report {
  const { traffic, outages, fleet, guarantee, more } = findings;
  const { changes, deliveries } = traffic;
  const history = { ...findings, changes };
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  const inOutage = attempts.filter((attempt) =>
    outages.some((outage) => isWithin(outage, attempt)),
  );
  const mistakes = [
    ...(more?.mistakes ?? []),
    ...findMistakes(history, guarantee),
    ...findOrderMistakes(history),
    ...findUnacknowledged(deliveries),
    ...findUnexpected(attempts, EXPECTED_RESULTS, 'at any time'),
    ...findUnexpected(
      inOutage,
      findings.isReadableWhileDown ? EXPECTED_RESULTS : EXPECTED_IN_OUTAGE,
      'while the store was down',
    ),
    ...fleet.crashes.map((exit) => `a receiver process ended by itself: ${exit}`),
  ];
  const counts = {
    ...more?.counts,
    payments: findings.payments,
    changes: changes.length,
    'callbacks sent': attempts.length,
    ...countResults(attempts, ''),
    'store down (ms)': sum(outages.map(({ fromMs, toMs }) => toMs - fromMs)),
    ...countResults(inOutage, 'store down: '),
    kills: fleet.kills,
    'process starts': fleet.starts,
    ...countEffects(history),
    'duration (ms)': Math.round(findings.durationMs),
    ...prefixed(fleet.errors, 'onError: '),
    mistakes: mistakes.length,
  };
  return { mistakes, counts, text: toText(findings, counts, mistakes) };
}

function findUnacknowledged(deliveries: readonly Delivery[]): string[] {
  return deliveries
    .filter(({ state }) => state !== 'acknowledged')
    .map(({ referenceNumber, status, state }) => `${state}: ${referenceNumber} ${status}`);
}

function findUnexpected(
  attempts: readonly DeliveryAttempt[],
  expected: readonly string[],
  when: string,
): string[] {
  return attempts
    .map(resultOf)
    .filter((result) => !expected.includes(result))
    .map((result) => `${result} ${when}`);
}

function countResults(attempts: readonly DeliveryAttempt[], prefix: string) {
  const counts = new Map<string, number>();
  for (const result of attempts.map(resultOf)) counts.set(result, (counts.get(result) ?? 0) + 1);
  return prefixed(counts, prefix);
}

/** The status of the reply, or why there was none. */
function resultOf({ response, outcome }: DeliveryAttempt): string {
  if (response !== undefined) return `reply ${response.status}`;
  return outcome === 'failed' ? 'connection broken' : outcome;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function prefixed(counts: ReadonlyMap<string, number>, prefix: string): Record<string, number> {
  const entries = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, count]) => [`${prefix}${name}`, count]));
}

function toText(
  { subject, seed }: Findings,
  counts: Readonly<Record<string, number>>,
  mistakes: readonly string[],
): string {
  const width = Math.max(...Object.keys(counts).map(({ length }) => length));
  return [
    `Crash test of the ${subject}, seed ${seed}`,
    ...Object.entries(counts).map(([name, count]) => `  ${name.padEnd(width)} ${count}`),
    ...mistakes.slice(0, SHOWN_MISTAKES).map((mistake) => `  ! ${mistake}`),
  ].join('\n');
}
