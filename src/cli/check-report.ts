import type { EndpointCheck, EndpointReport } from 'merchant-payments/testing';
import { markupText, plainText } from '../protocol/plain-text.js';
import { type Layout, labelledLines, wrapText } from './layout.js';

/** The flags of the options that checks name. */
const FLAGS: Readonly<Record<string, string>> = {
  countEffects: '--effect-url <url>',
  merchantPaymentReference: '--reference <text>',
  overtaking: '--overtaking',
  signatureEncoding: '--signature-encoding',
  timestampUnit: '--timestamp-unit',
};

const nameFlags = (text: string): string =>
  text.replaceAll(/the option (\w+)/g, (all, name: string) => FLAGS[name] ?? all);

/** Names flags instead of options. */
export function nameCheckFlags(report: EndpointReport): EndpointReport {
  const checks = report.checks.map((check) => ({
    ...check,
    detail: nameFlags(check.detail),
    remedy: nameFlags(check.remedy),
  }));
  return { ...report, checks };
}

/** Describes a report for people: what failed and why, what was skipped, and the totals. */
export function describeReport(report: EndpointReport, layout: Layout): string[] {
  const { checks, url, cause } = report;
  const { paint, width } = layout;
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  // The cause comes first.
  failed.sort((one, other) => Number(other.id === cause) - Number(one.id === cause));
  return [
    ...wrapText(`Checks of ${plainText(url)}`, width).map((line) => paint('bold', line)),
    ...failed.flatMap((check) => describeFailure(check, layout)),
    ...describeSkipped(checks, layout),
    '',
    ...describeTotals(report, layout),
  ];
}

/** Explains a failure: what was seen, what to do, and a line to paste for that. */
function describeFailure(check: EndpointCheck, { width, paint }: Layout): string[] {
  const { id, title, detail, answer, remedy, paste, referenceNumbers } = check;
  const [first = '', ...others] = labelledLines('FAIL  ', plainText(`${id}: ${title}`), width);
  const look =
    referenceNumbers.length > 0
      ? `in the endpoint's log for ${referenceNumbers.join(', ')}`
      : undefined;
  const explanation = { seen: detail, said: answer, fix: remedy, look };
  return [
    '',
    first.replace('FAIL', paint('red', 'FAIL')),
    ...others,
    ...Object.entries(explanation).flatMap(([label, text]) =>
      text === undefined ? [] : labelledLines(`  ${label.padEnd(6)}`, plainText(text), width),
    ),
    // Not wrapped, so that it can be copied.
    ...(paste === undefined ? [] : [`  paste ${plainText(paste)}`]),
  ];
}

const MOST_NAMED = 8;

// Most are skipped for the same reason.
function describeSkipped(checks: readonly EndpointCheck[], { width, paint }: Layout): string[] {
  const idsByReason = new Map<string, string[]>();
  for (const { id, outcome, detail } of checks) {
    if (outcome !== 'skipped') continue;
    idsByReason.set(detail, [...(idsByReason.get(detail) ?? []), id]);
  }
  return [...idsByReason].flatMap(([reason, ids]) => [
    '',
    ...wrapText(
      plainText(`skipped: ${ids.length > MOST_NAMED ? `${ids.length} checks` : ids.join(', ')}`),
      width,
    ).map((line) => paint('yellow', line)),
    ...labelledLines('  why   ', plainText(reason), width),
  ]);
}

function describeTotals(report: EndpointReport, { width, paint }: Layout): string[] {
  const { counts, passed } = report;
  const totals = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
  // A failure says what to do. Without one, this is why the exit code is 1.
  const unacknowledged =
    !passed && counts.failed === 0
      ? 'No callback was acknowledged, so this is a failure. If your endpoint looks its order up, give a stored one: --reference <text>'
      : undefined;
  return [unacknowledged, totals]
    .filter((text) => text !== undefined)
    .flatMap((text) => wrapText(text, width))
    .map((line) => paint(passed ? 'green' : 'red', line));
}

/** Writes a report as JUnit XML, which CI servers show as test results. */
export function toJUnitXml(report: EndpointReport): string {
  const { checks, counts, url } = report;
  const totals = {
    tests: String(checks.length),
    failures: String(counts.failed),
    errors: '0',
    skipped: String(counts.skipped),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'merchant-payments check', ...totals })}>`,
    `  <testsuite${attributes({ name: url, ...totals })}>`,
    ...checks.flatMap(writeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function writeCase(check: EndpointCheck): string[] {
  const { id, title, outcome, detail, remedy, paste, answer } = check;
  const opening = `    <testcase${attributes({
    classname: 'merchant-payments.check',
    name: `${id}: ${title}`,
  })}`;
  if (outcome === 'passed') return [`${opening}/>`];
  const lines = [remedy, paste, answer && `Answer: ${answer}`].filter((line) => line !== undefined);
  const inner =
    outcome === 'skipped'
      ? `<skipped${attributes({ message: detail })}/>`
      : `<failure${attributes({ message: detail, type: id })}>${lines.map(xmlText).join('\n')}</failure>`;
  return [`${opening}>`, `      ${inner}`, '    </testcase>'];
}

const attributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${xmlText(value)}"`)
    .join('');

// Controls are escaped, as on a terminal: XML 1.0 can't express most of them, nor these two.
const xmlText = (text: string): string =>
  markupText(plainText(text.replace(/[\ufffe\uffff]/g, '')));
