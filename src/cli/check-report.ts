import type { EndpointCheck, EndpointReport } from 'merchant-payments/testing';
import { plainText } from '../protocol/plain-text.js';
import { type Layout, labelledLines, wrapText } from './layout.js';
import type { Paint, Style } from './output.js';

/** The flags of the options that checks name. */
const FLAGS = {
  countEffects: '--effect-url <url>',
  effectCounts: '--effect-counts paid',
  merchantPaymentReference: '--reference <text>',
  overtaking: '--overtaking',
  signatureEncoding: '--signature-encoding <encoding>',
  timestampUnit: '--timestamp-unit <unit>',
} as const;

const withFlag = (text: string, flag: string): string =>
  `${text.replace(/\.$/, '')}. On the command line: ${flag}`;

/** Adds to each check the flag of the option that it needs. */
export function nameCheckFlags(report: EndpointReport): EndpointReport {
  const checks = report.checks.map((check) => {
    if (check.option === undefined || check.outcome === 'passed') return check;
    const flag = FLAGS[check.option];
    return check.outcome === 'skipped'
      ? { ...check, detail: withFlag(check.detail, flag) }
      : { ...check, remedy: withFlag(check.remedy, flag) };
  });
  return { ...report, checks };
}

const OUTCOMES: Readonly<
  Record<EndpointCheck['outcome'], { readonly word: string; readonly style: Style }>
> = {
  passed: { word: 'pass', style: 'green' },
  failed: { word: 'FAIL', style: 'red' },
  skipped: { word: 'skip', style: 'yellow' },
};

/** Describes a check in one line. */
export function describeCheck({ id, outcome, title }: EndpointCheck, paint: Paint): string {
  const { word, style } = OUTCOMES[outcome];
  return `${paint(style, word)}  ${plainText(id)}: ${plainText(title)}`;
}

/** Describes a report for people: a table of all checks, what failed and why, and totals. */
export function describeReport(
  report: EndpointReport,
  layout: Layout,
  /** Leaves out the table, and the names of many checks that were skipped for the same reason. */
  { isBrief = false } = {},
): string[] {
  const { checks, url, cause } = report;
  const { paint, width } = layout;
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  // The cause comes first.
  failed.sort((one, other) => Number(other.id === cause) - Number(one.id === cause));
  return [
    ...wrapText(`Checks of ${plainText(url)}`, width).map((line) => paint('bold', line)),
    ...(isBrief ? [] : ['', ...describeTable(checks, layout)]),
    ...failed.flatMap((check) => describeFailure(check, layout)),
    ...describeSkipped(checks, layout, isBrief ? FEW : checks.length),
    '',
    ...describeTotals(report, layout),
  ];
}

function describeTable(checks: readonly EndpointCheck[], { width, paint }: Layout): string[] {
  const idWidth = Math.max(0, ...checks.map(({ id }) => id.length));
  return checks.flatMap(({ id, title, outcome }) => {
    const { word, style } = OUTCOMES[outcome];
    const label = `${word}  ${plainText(id).padEnd(idWidth)}  `;
    const lines = labelledLines(label, plainText(title), width);
    return lines.map((line, index) =>
      index === 0 ? `${paint(style, word)}${line.slice(word.length)}` : line,
    );
  });
}

/** Explains a failure: what was seen, why it matters, and what to do. */
function describeFailure(check: EndpointCheck, { width, paint }: Layout): string[] {
  const { id, title, detail, answer, why, remedy, referenceNumbers } = check;
  const look =
    referenceNumbers.length > 0
      ? `in the endpoint's log for ${referenceNumbers.join(', ')}`
      : undefined;
  const explanation = { seen: detail, said: answer, why, fix: remedy, look };
  return [
    '',
    ...wrapText(plainText(`${id}: ${title}`), width).map((line) => paint('red', line)),
    ...Object.entries(explanation).flatMap(([label, text]) =>
      text === undefined ? [] : labelledLines(`  ${label.padEnd(6)}`, plainText(text), width),
    ),
  ];
}

/** The most checks skipped for the same reason that a brief report names. */
const FEW = 5;

// Most are skipped for the same reason.
function describeSkipped(
  checks: readonly EndpointCheck[],
  { width, paint }: Layout,
  maxNamed: number,
): string[] {
  const idsByReason = new Map<string, string[]>();
  for (const { id, outcome, detail } of checks) {
    if (outcome !== 'skipped') continue;
    idsByReason.set(detail, [...(idsByReason.get(detail) ?? []), id]);
  }
  return [...idsByReason].flatMap(([reason, ids]) => [
    '',
    ...wrapText(
      plainText(`skipped: ${ids.length > maxNamed ? `${ids.length} checks` : ids.join(', ')}`),
      width,
    ).map((line) => paint('yellow', line)),
    ...labelledLines('  why   ', plainText(reason), width),
  ]);
}

function describeTotals(report: EndpointReport, { width, paint }: Layout): string[] {
  const { counts, durationMs, acknowledgeMs, passed } = report;
  const acknowledged =
    acknowledgeMs === undefined
      ? 'No callback was acknowledged.'
      : `Callbacks were acknowledged within ${acknowledgeMs.median} ms (median), ${acknowledgeMs.max} ms at most.`;
  const totals = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${(durationMs / 1000).toFixed(1)} s. ${acknowledged}`;
  return wrapText(totals, width).map((line) => paint(passed ? 'green' : 'red', line));
}

/** Writes a report as JUnit XML, which CI servers show as test results. */
export function toJUnitXml(report: EndpointReport): string {
  const { checks, counts, durationMs, startedAt, url } = report;
  const totals = {
    tests: String(checks.length),
    failures: String(counts.failed),
    errors: '0',
    skipped: String(counts.skipped),
    time: seconds(durationMs),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'merchant-payments check', ...totals })}>`,
    // The schema of JUnit allows no fraction and no offset.
    `  <testsuite${attributes({ name: url, ...totals, timestamp: startedAt.slice(0, 19) })}>`,
    ...checks.flatMap(writeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function writeCase(check: EndpointCheck): string[] {
  const { id, title, outcome, detail, why, remedy, answer, latencyMs = 0 } = check;
  const said = answer === undefined ? '' : `\nAnswer: ${answer}`;
  const opening = `    <testcase${attributes({
    classname: 'merchant-payments.check',
    name: `${id}: ${title}`,
    time: seconds(latencyMs),
  })}`;
  if (outcome === 'passed') return [`${opening}/>`];
  const inner =
    outcome === 'skipped'
      ? `<skipped${attributes({ message: detail })}/>`
      : `<failure${attributes({ message: detail, type: id })}>${escapeText(`${why}\n${remedy}${said}`)}</failure>`;
  return [`${opening}>`, `      ${inner}`, '    </testcase>'];
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`)
    .join('');
}

// XML 1.0 can't express these, not even as references.
const NOT_IN_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeText(text: string): string {
  return text
    .replace(NOT_IN_XML, '')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] as string)
    .replaceAll('\r', '&#13;');
}

// A parser reads an unescaped line break in an attribute as a space.
function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
}
