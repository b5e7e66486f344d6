const DETECTED = new Set(['Killed', 'Timeout']);
const UNDETECTED = new Set(['Survived', 'NoCoverage']);

/**
 * Reads Stryker's report on one part: counts, and every mutant that no test detected, with its explanation if
 * there is one.
 *
 * @param {import('mutation-testing-report-schema').MutationTestResult} report
 * @param {readonly { file: string; code: string; to: string; why: string }[]} explanations
 */
export function readReport(report, explanations) {
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
      const explained = explanations.find(
        (known) => known.file === file && known.code === code && known.to === to,
      );
      survivors.push({ file, line: location.start.line, code, to, why: explained?.why });
    }
  }
  return { detected, survivors };
}
