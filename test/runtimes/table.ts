import { readFile } from 'node:fs/promises';
import { type GroupName, groupNames } from './cases/case.js';
import type { CaseResult } from './results.js';
import type { Runtime } from './runtimes.js';

export interface RuntimeResult {
  readonly runtime: Runtime;
  readonly version: string;
  readonly cases: readonly CaseResult[];
  readonly seconds: number;
}

export async function printTable(results: readonly RuntimeResult[]): Promise<void> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const date = new Date().toISOString().slice(0, 10);
  console.log(
    `\nRuntimes: merchant-payments ${version} from its tarball, ${date}. Cases passed:\n`,
  );
  printRows([
    ['runtime', 'version', ...groupNames, 'seconds'],
    ...results.map(({ runtime, version: release, cases, seconds }) => [
      runtime.name,
      release,
      ...groupNames.map((group) => cell(runtime, cases, group)),
      seconds.toFixed(1),
    ]),
  ]);
}

function cell({ skipped }: Runtime, cases: readonly CaseResult[], group: GroupName): string {
  if (skipped[group] !== undefined) return 'skipped';
  const ofGroup = cases.filter((one) => one.group === group);
  const failed = ofGroup.filter(({ failure }) => failure !== undefined).length;
  return failed === 0 ? `${ofGroup.length}` : `${ofGroup.length - failed}, ${failed} FAILED`;
}

/** As Markdown, to be pasted into docs/evidence.md. */
function printRows(rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows;
  for (const row of [head, head.map(() => '---'), ...body]) console.log(`| ${row.join(' | ')} |`);
}
