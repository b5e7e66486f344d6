import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Accounts, type Counts, OUTCOMES } from './accounts.js';
import type { Handles, Holdings } from './measure.js';
import { situationNames } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { PROCESSES } from './snapshot.js';

/** The result of a run. */
export interface Report {
  /** What must not have happened: one line for each mistake. */
  readonly mistakes: readonly string[];
  /** All of it, to print. */
  readonly text: string;
}

interface Findings {
  readonly seed: number;
  readonly comparesHeap: boolean;
  readonly accounts: Accounts;
  readonly warmUpRounds: number;
  /** After each round. */
  readonly snapshots: readonly Snapshot[];
  readonly alarms: readonly string[];
  readonly durationMs: number;
}

const SHOWN_MISTAKES = 30;
const TOLERANCE = 0.05;
const MIB = 2 ** 20;

export function createReport(findings: Findings): Report {
  const { accounts, alarms, snapshots } = findings;
  const last = snapshots.at(-1);
  const stallMs = Math.max(last?.client.longestStallMs ?? 0, last?.service.longestStallMs ?? 0);
  const mistakes = [
    ...accounts.mistakes,
    ...accounts.judgeLostRequests(stallMs),
    ...accounts.listUnreached(),
    ...alarms,
    ...findLeaks(findings),
  ];
  return {
    mistakes,
    text: toText(findings, mistakes),
  };
}

function findLeaks({ snapshots, warmUpRounds, comparesHeap }: Findings): string[] {
  const [first, last] = [snapshots[warmUpRounds - 1], snapshots.at(-1)];
  if (first === undefined || last === undefined) return ['nothing was measured'];
  return PROCESSES.flatMap((name) => {
    const [before, after] = [first[name], last[name]];
    const leaks = [
      ...compareHandles(`${name}, since the warm-up`, before.handles, after.handles),
      ...compareHandles(`${name}, since the start`, after.handlesAtStart, after.handles),
    ];
    // A service that was reset is small enough for compiled code to be a large part of it. What a
    // reset does not free is in the figures of the next round, too.
    if (!comparesHeap || name === 'service, reset') return leaks;
    const growth = (after.heapUsed - before.heapUsed) / before.heapUsed;
    if (Math.abs(growth) > TOLERANCE) leaks.push(`${name}: the heap went by ${percent(growth)}`);
    return leaks;
  });
}

function compareHandles(when: string, before: Handles, after: Handles): string[] {
  return (['resources', 'files', 'listeners'] as const).flatMap((kind) => {
    const [held, holds] = [JSON.stringify(before[kind]), JSON.stringify(after[kind])];
    return held === holds ? [] : [`${when}: ${kind} were ${held}, and are ${holds}`];
  });
}

function toText(findings: Findings, mistakes: readonly string[]): string {
  const { accounts, seed, durationMs } = findings;
  const seconds = durationMs / 1000;
  const { counts } = accounts;
  const rate = (name: string) => `${Math.round((counts.get(name) ?? 0) / seconds)} ${name}/s`;
  return [
    `Load run of ${new Date().toISOString().slice(0, 10)}: merchant-payments ${versionOf('../..')}, Node ${process.version}, undici ${versionOf('../../node_modules/undici')}, ${availableParallelism()} CPUs, seed ${seed}`,
    `${Math.round(seconds)} s: ${rate('calls')}, ${rate('requests')}, ${rate('effects')}`,
    '',
    ...situationTable(accounts),
    '',
    ...outcomeTable(accounts),
    '',
    ...countLines(counts),
    '',
    ...holdingsTable(findings),
    '',
    `${mistakes.length} mistakes`,
    ...mistakes.slice(0, SHOWN_MISTAKES).map((mistake) => `  ! ${mistake}`),
  ].join('\n');
}

/** Calls by situation and the client's outcome; what is behind the stroke is payments. */
function situationTable({ situations }: Accounts): string[] {
  const rows = situationNames.map((name) => {
    const tallies = situations.get(name);
    return [
      name,
      ...OUTCOMES.map((outcome) => {
        const tally = tallies?.get(outcome);
        return tally === undefined ? '' : `${tally.calls}/${tally.payments}`;
      }),
    ];
  });
  return table(['calls/payments', ...OUTCOMES], rows);
}

function outcomeTable({ outcomes }: Accounts): string[] {
  const rows = OUTCOMES.map((outcome) => {
    const row = outcomes.get(outcome);
    const more = [...(row ?? [])].filter(([payments]) => payments > 1);
    return [
      outcome,
      `${row?.get(0) ?? 0}`,
      `${row?.get(1) ?? 0}`,
      `${more.reduce((sum, [, calls]) => sum + calls, 0)}`,
    ];
  });
  return table(['the client said', 'no payment', 'one', 'more'], rows);
}

function countLines(counts: Counts): string[] {
  const entries = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return table(
    ['counted', ''],
    entries.map(([name, count]) => [name, `${Math.round(count)}`]),
  );
}

function holdingsTable({ snapshots, warmUpRounds }: Findings): string[] {
  const [first, last] = [snapshots[warmUpRounds - 1], snapshots.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = PROCESSES.map((name) => {
    const [before, after] = [first[name], last[name]];
    return [
      name,
      `${mib(before.heapUsed)} → ${mib(after.heapUsed)}`,
      percent((after.heapUsed - before.heapUsed) / before.heapUsed),
      `${mib(before.external)} → ${mib(after.external)}`,
      `${mib(before.rss)} → ${mib(after.rss)}`,
      `${countHandles(before)} → ${countHandles(after)}`,
      `${Math.round(after.longestStallMs)}`,
    ];
  });
  const series = PROCESSES.map((name) => [
    name,
    snapshots.map((snapshot) => mib(snapshot[name].heapUsed)).join(' '),
  ]);
  return [
    ...table(
      [
        'after warm-up → end',
        'heap (MiB)',
        '',
        'buffers (MiB)',
        'RSS (MiB)',
        'handles, sockets',
        'longest stall (ms)',
      ],
      rows,
    ),
    '',
    ...table(['heap after each round (MiB)', ''], series),
    '',
    `The service keeps of a round: ${describeKept(last)}`,
  ];
}

function describeKept({ kept }: Snapshot): string {
  return Object.entries(kept)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function countHandles({ handles: { resources, files } }: Holdings): string {
  const sum = Object.values(resources).reduce((total, count) => total + count, 0);
  return `${sum}, ${files['socket'] ?? 'not told'}`;
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  );
  return all.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(2);
}

function percent(share: number): string {
  return `${share >= 0 ? '+' : ''}${(share * 100).toFixed(1)}%`;
}

function versionOf(folder: string): string {
  const url = new URL(`${folder}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
}
