import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type {
  ExplorationFailure,
  ExplorationReport,
  ExplorationStep,
  ExploreCallbackEndpointOptions,
} from 'merchant-payments/testing';
import { explanationLines } from './check-report.js';
import { UsageError } from './command.js';
import { type Layout, labelledLines, wrapText } from './layout.js';
import { countOf, plainJson, plainText } from './output.js';

/**
 * Reads a script: JSON, or a file with a script or a report of `check --explore --json`.
 *
 * @throws {UsageError} when there is none
 */
export async function readScript(given: string): Promise<readonly ExplorationStep[]> {
  try {
    const isScript = given.trimStart().startsWith('[');
    const json = JSON.parse(isScript ? given : await readFile(given, 'utf8'));
    const script: unknown = Array.isArray(json) ? json : json.failure.script;
    if (Array.isArray(script)) return script;
  } catch {
    // Reported below.
  }
  throw new UsageError(
    '--replay must be a script in JSON, or a file with a script or a report of --explore --json',
  );
}

/** Runs the user's own command in a shell. */
export async function runRestartCommand(command: string, signal: AbortSignal): Promise<void> {
  const child = spawn(command, { shell: true, stdio: 'ignore', signal });
  const [code, killedBy] = await once(child, 'exit');
  if (code === 0) return;
  const details = { name: 'the command', code: `exit code ${code ?? killedBy}` };
  throw Object.assign(new Error('the restart command failed'), details);
}

/** What a test needs from the command line, besides the report. */
export interface ExploringOptions {
  readonly url: URL;
  readonly effectUrl: URL;
  readonly restartCommand: string | undefined;
  readonly reference: string | undefined;
  /** Options of the package that are written unchanged. */
  readonly others: Partial<ExploreCallbackEndpointOptions>;
}

/** Writes a failure as a test to paste, which needs only the package and the environment. */
export function writeTest(
  { title, detail, script }: ExplorationFailure,
  { url, effectUrl, restartCommand, reference, others }: ExploringOptions,
): string {
  // A query may hold a token.
  const address = (one: URL, variable: string): string =>
    one.search === '' ? plainJson(one.href) : `process.env.${variable} ?? ''`;
  const entries = Object.entries(others).filter(([, value]) => value !== undefined);
  const restarts = restartCommand !== undefined && script.some((step) => step.do === 'restart');
  const { start, text } = writeReference(reference);
  return [
    "import assert from 'node:assert/strict';",
    ...(restarts ? ["import { execSync } from 'node:child_process';"] : []),
    "import { test } from 'node:test';",
    "import { exploreCallbackEndpoint } from 'merchant-payments/testing';",
    '',
    `// ${plainText(detail)}`,
    `test(${plainJson(title)}, async () => {`,
    ...start,
    `  const { failure } = await exploreCallbackEndpoint(${address(url, 'CALLBACK_URL')}, {`,
    "    signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',",
    `    countEffects: ${address(effectUrl, 'EFFECT_URL')},`,
    ...entries.map(([name, value]) => `    ${name}: ${plainJson(value)},`),
    ...text,
    ...(restarts
      ? [`    restart: () => void execSync(${plainJson(restartCommand)}, { stdio: 'ignore' }),`]
      : []),
    '    script: [',
    ...script.map((step) => `      ${plainJson(step)},`),
    '    ],',
    '  });',
    '  assert.equal(failure?.detail, undefined);',
    '});',
    '',
  ].join('\n');
}

/** Writes `--reference` in TypeScript. */
function writeReference(pattern: string | undefined) {
  if (pattern === undefined) return { start: [], text: [] };
  const parts = pattern.split(REFERENCE_PLACE).map((part, index) => {
    if (index % 2 === 0) return plainJson(part);
    const first = part ?? '1';
    return `String(${Number(first)} + order).padStart(${first.length}, '0')`;
  });
  const joined = parts.filter((part) => part !== '""').join(' + ');
  return {
    start: ['  let order = -1;'],
    text: [
      '    merchantPaymentReference: () => {',
      '      order += 1;',
      `      return ${joined};`,
      '    },',
    ],
  };
}

/** The number in a pattern of references; captures the first one. */
export const REFERENCE_PLACE = /\{(?:n|(\d{1,15})\.\.)\}/;

/** Describes a report for people. */
export function describeExploration(
  report: ExplorationReport,
  test: string | undefined,
  { width, paint }: Layout,
): string[] {
  const { failure, schedules, seed, ran, url, leftOut, durationMs } = report;
  const what = seed === undefined ? 'The script' : `${countOf(ran, 'schedule')} of seed ${seed}`;
  const took = `in ${(durationMs / 1000).toFixed(1)} s`;
  const wrap = (text: string): string[] => wrapText(plainText(text), width);
  const omitted = leftOut.flatMap((one) => labelledLines('left out  ', plainText(one), width));
  if (failure === undefined) {
    const passed = `${what} passed ${took} at ${url}: each change had its effect once.`;
    return [...wrap(passed).map((line) => paint('green', line)), ...omitted];
  }
  const { invariant, title, script, schedule } = failure;
  const head = `FAIL  ${invariant}: ${title}`;
  const where = schedule === undefined ? '' : `, schedule ${schedule} of ${schedules}`;
  const from = seed === undefined ? '' : ` (seed ${seed}${where}${describeShrunk(failure)})`;
  return [
    ...wrap(`${what} at ${url} ${took}`).map((line) => paint('bold', line)),
    '',
    ...wrap(head).map((line) => paint('red', line)),
    ...explanationLines(failure, width),
    ...(test === undefined
      ? []
      : [
          '',
          ...wrap(`The script${from}:`),
          ...script.flatMap((step, index) =>
            labelledLines(`  ${index + 1}. `, describeStep(step), width),
          ),
          ...labelledLines(
            '  then ',
            'deliver each unacknowledged callback until it is acknowledged',
            width,
          ),
          '',
          'To run it again, together with the other options of this run:',
          `  merchant-payments check ${plainText(url)} --replay '${plainJson(script)}'`,
          '',
          'As a test:',
          '',
          ...test.trimEnd().split('\n'),
        ]),
    ...(omitted.length === 0 ? [] : ['', ...omitted]),
  ];
}

const ENDINGS = {
  complete: '',
  'out-of-runs': '; the limit of runs was reached, so some steps may not be needed',
  'out-of-time': '; the time limit was reached, so some steps may not be needed',
  'not-again': '; it did not fail a second time, so it was not shrunk',
  'endpoint-down':
    '; the endpoint then stopped accepting callbacks: give --restart-command to shrink the script',
} as const;

function describeShrunk({ shrunk, script }: ExplorationFailure): string {
  if (shrunk === undefined) return '';
  const { fromSteps, runs, ended } = shrunk;
  const steps = `${countOf(fromSteps, 'step')} shrunk to ${script.length} in ${countOf(runs, 'run')}`;
  return `; ${steps}${ENDINGS[ended]}`;
}

function describeStep(step: ExplorationStep): string {
  if (step.do === 'restart') return 'restart the endpoint';
  const callback = `${step.change} of payment ${step.payment}`;
  if (step.do === 'deliver') {
    const late = step.lateSeconds === undefined ? '' : `, signed ${step.lateSeconds} s ago`;
    return `${step.atOnce ? 'at the same moment ' : ''}deliver ${callback}${late}`;
  }
  return step.do === 'drop'
    ? `break the connection halfway through ${callback}`
    : `deliver ${callback}, then break the connection`;
}
