import type {
  CallbackDiagnosis,
  CallbackFinding,
  EndpointCheck,
  EndpointReport,
} from 'merchant-payments/testing';
import { type Layout, labelledLines, wrapText } from './layout.js';
import { type Paint, plainText, type Style } from './output.js';

/** The flag of each option that checks name. */
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

/** A report whose checks name the flag of the option that they need. */
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

/** What to do on the command line about a finding that an option fixes. */
const REMEDIES = {
  signatureEncoding: (value = '') => `Give --signature-encoding ${value}.`,
  timestampUnit: (value = '') => `If the service sends ${value}, give --timestamp-unit ${value}.`,
  now: () => 'For a captured callback give the time it was received: --at <time>.',
} as const;

/** A diagnosis whose remedies name flags instead of options. */
export function nameFindingFlags(diagnosis: CallbackDiagnosis): CallbackDiagnosis {
  const findings = diagnosis.findings.map((finding) => {
    if (finding.option === undefined) return finding;
    const { name, value } = finding.option;
    return { ...finding, remedy: REMEDIES[name](value) };
  });
  return { ...diagnosis, findings };
}

const OUTCOMES: Readonly<
  Record<EndpointCheck['outcome'], { readonly word: string; readonly style: Style }>
> = {
  passed: { word: 'pass', style: 'green' },
  failed: { word: 'FAIL', style: 'red' },
  skipped: { word: 'skip', style: 'yellow' },
};

/** A check in one line, as it ends. */
export function describeCheck({ id, outcome, title }: EndpointCheck, paint: Paint): string {
  const { word, style } = OUTCOMES[outcome];
  return `${paint(style, word)}  ${plainText(id)}: ${plainText(title)}`;
}

/** A report for people: a table of all checks, then what failed and why, then totals. */
export function describeReport(
  report: EndpointReport,
  layout: Layout,
  /** Without the table, and without the names of many that were skipped for one reason. */
  { isBrief = false } = {},
): string[] {
  const { checks, url, cause } = report;
  const { paint, width } = layout;
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  // What to look at first comes first.
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

function describeFailure(check: EndpointCheck, { width, paint }: Layout): string[] {
  const { id, title, detail, why, remedy, answer, referenceNumbers } = check;
  const parts = [
    ['  seen  ', detail],
    ...(answer === undefined ? [] : [['  said  ', answer]]),
    ['  why   ', why],
    ['  fix   ', remedy],
    ...(referenceNumbers.length === 0
      ? []
      : [['  look  ', `in the endpoint's log for ${referenceNumbers.join(', ')}`]]),
  ];
  return [
    '',
    ...wrapText(plainText(`${id}: ${title}`), width).map((line) => paint('red', line)),
    ...parts.flatMap(([label = '', text = '']) => labelledLines(label, plainText(text), width)),
  ];
}

/** How many a brief report names that were skipped for one reason. */
const FEW = 5;

// Most are skipped for one and the same reason.
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
      ? 'It acknowledged no callback.'
      : `It acknowledged a callback within ${acknowledgeMs.median} ms (median), ${acknowledgeMs.max} ms at most.`;
  const totals = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${(durationMs / 1000).toFixed(1)} s. ${acknowledged}`;
  return wrapText(totals, width).map((line) => paint(passed ? 'green' : 'red', line));
}

/** A diagnosis for people: the verdict, the record, what is wrong and what to do. */
export function describeDiagnosis(
  diagnosis: CallbackDiagnosis,
  { width, paint }: Layout,
  /** How many signing secrets were given: with one there is nothing to tell apart. */
  secretCount: number,
): string[] {
  const { verified, error, findings } = diagnosis;
  const verdict = verified
    ? paint('green', 'verified: the callback is authentic, fresh, and a status record')
    : paint('red', `refused with ${error?.code}`);
  // The first finding says the same, and what to do.
  const reason =
    error === undefined || findings.length > 0 ? [] : wrapText(plainText(error.message), width);
  return [
    verdict,
    ...reason,
    ...describeSignature(diagnosis, width, secretCount),
    ...describePayment(diagnosis, width),
    ...findings.flatMap((finding) => describeFinding(finding, { width, paint })),
  ];
}

function describeSignature(
  { signature, secretIndex }: CallbackDiagnosis,
  width: number,
  secretCount: number,
): string[] {
  const isNamed = secretIndex !== undefined && secretCount > 1;
  const which = isNamed ? `, with signing secret ${secretIndex + 1}` : '';
  const text = {
    right: `matches this callback${which}`,
    explained: `matches this callback${which}, once the findings below are fixed`,
    unexplained: 'does not match, and nothing that was tried explains it',
    missing: 'missing',
  }[signature];
  return labelledLines('  signature  ', text, width);
}

function describePayment({ payment, verified }: CallbackDiagnosis, width: number): string[] {
  if (payment === undefined) return [];
  const warning = verified ? '' : ' (authentic, but refused: look at it, do not act on it)';
  const { status, merchantPaymentReference, referenceNumber, updatedAt } = payment;
  return [
    ['  status     ', `${status}${warning}`],
    ['  reference  ', merchantPaymentReference],
    ['  number     ', referenceNumber],
    ['  updated    ', updatedAt],
  ].flatMap(([label = '', text = '']) => labelledLines(label, plainText(text), width));
}

function describeFinding(
  { code, message, remedy, tried }: CallbackFinding,
  { width, paint }: Layout,
): string[] {
  return [
    '',
    paint('yellow', code),
    ...labelledLines('  seen  ', plainText(message), width),
    ...labelledLines('  fix   ', plainText(remedy), width),
    ...(tried === undefined ? [] : labelledLines('  tried ', plainText(tried.join('; ')), width)),
  ];
}
