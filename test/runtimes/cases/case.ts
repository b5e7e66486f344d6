/** One thing that must hold in every runtime. It uses the installed package and web standards alone. */
export interface Case {
  readonly name: string;
  run(): Promise<void> | void;
}

/** Cases that need the same of a runtime, and so are run or skipped together. */
export interface CaseGroup {
  readonly name: GroupName;
  readonly cases: readonly Case[];
}

export const groupNames = [
  'callback',
  'callback, async',
  'client',
  'mock-server',
  'demo',
  'endpoint',
] as const;

export type GroupName = (typeof groupNames)[number];

/** What a starter prints, one JSON text per line. */
export type ReportLine =
  | { readonly group: GroupName; readonly name: string; readonly failure?: string }
  | { readonly finished: number };

/** Runs the groups in turn and tells each case as it ends; `finished` tells that none was lost. */
export async function runGroups(
  groups: readonly CaseGroup[],
  tell: (line: ReportLine) => void,
): Promise<void> {
  let finished = 0;
  for (const { name: group, cases } of groups) {
    for (const { name, run } of cases) {
      const failure = await failureOf(run);
      tell(failure === undefined ? { group, name } : { group, name, failure });
      finished += 1;
    }
  }
  tell({ finished });
}

async function failureOf(run: Case['run']): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
  }
}
