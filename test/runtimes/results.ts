import { type GroupName, groupNames, type ReportLine } from './cases/case.js';

export interface CaseResult {
  readonly group: GroupName;
  readonly name: string;
  readonly failure?: string;
}

/** What the lines of a starter tell; throws unless every case of every group is reported. */
export function readReport(
  lines: readonly ReportLine[],
  expected: readonly GroupName[],
): readonly CaseResult[] {
  const results = lines.filter((line): line is CaseResult => 'group' in line);
  const last = lines.at(-1);
  if (last === undefined || !('finished' in last) || last.finished !== results.length) {
    throw new Error(`the run broke off after ${results.length} cases`);
  }
  const seen = new Set(results.map(({ group }) => group));
  const wrong = groupNames.filter((group) => seen.has(group) !== expected.includes(group));
  if (wrong.length > 0) throw new Error(`expected ${expected}, but ${[...seen]} were run`);
  return results;
}

/** Something that went wrong outside a case counts as a case that failed. */
export async function collect(
  group: GroupName,
  what: string,
  act: () => Promise<readonly CaseResult[]>,
): Promise<readonly CaseResult[]> {
  try {
    return await act();
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ group, name: what, failure }];
  }
}
