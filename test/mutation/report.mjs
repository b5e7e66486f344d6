const DETECTED = new Set(['Killed', 'Timeout']);
const UNDETECTED = new Set(['Survived', 'NoCoverage']);

/**
 * Reads Stryker's report on one part: how many mutants the tests detected, and every other one.
 *
 * @param {import('mutation-testing-report-schema').MutationTestResult} report
 */
export function readReport(report) {
  const survivors = [];
  let detected = 0;
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    const lines = source.split('\n');
    for (const { status, replacement = '', location, coveredBy, static: runsAtImport } of mutants) {
      // Left out by stryker.config.mjs, unless tests run it too.
      if (runsAtImport && !coveredBy?.length) continue;
      if (DETECTED.has(status)) detected += 1;
      if (!UNDETECTED.has(status)) continue;
      const code = lines[location.start.line - 1].trim();
      const to = replacement.replace(/\s+/g, ' ').slice(0, 120);
      survivors.push({ file, line: location.start.line, code, to });
    }
  }
  return { detected, survivors };
}
