import type { EndpointCheck, EndpointReport } from 'merchant-payments/testing';
import type { Paint, Style } from '../colors.js';
import { plainText } from '../plain-text.js';
import { labelledLines, wrapText } from './wrap.js';

interface Layout {
  readonly width: number;
  readonly paint: Paint;
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
export function describeReport(report: EndpointReport, layout: Layout): string[] {
  const { checks, url } = report;
  const { paint, width } = layout;
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return [
    ...wrapText(`Checks of ${plainText(url)}`, width).map((line) => paint('bold', line)),
    '',
    ...describeTable(checks, layout),
    ...failed.flatMap((check) => describeFailure(check, layout)),
    ...describeSkipped(checks, layout),
    '',
    ...describeTotals(report, layout),
  ];
}

function describeTable(checks: readonly EndpointCheck[], { width, paint }: Layout): string[] {
  const idWidth = Math.max(0, ...checks.map(({ id }) => id.length));
  return checks.flatMap(({ id, title, outcome }) => {
    const { word, style } = OUTCOMES[outcome];
    const lines = labelledLines({
      label: `${word}  ${plainText(id).padEnd(idWidth)}  `,
      text: plainText(title),
      width,
    });
    return lines.map((line, index) =>
      index === 0 ? `${paint(style, word)}${line.slice(word.length)}` : line,
    );
  });
}

function describeFailure(check: EndpointCheck, { width, paint }: Layout): string[] {
  const { id, title, detail, why, remedy, referenceNumbers } = check;
  const parts = [
    ['  seen  ', detail],
    ['  why   ', why],
    ['  fix   ', remedy],
    ...(referenceNumbers.length === 0 ? [] : [['  look  ', `for ${referenceNumbers.join(', ')}`]]),
  ];
  return [
    '',
    ...wrapText(plainText(`${id}: ${title}`), width).map((line) => paint('red', line)),
    ...parts.flatMap(([label = '', text = '']) =>
      labelledLines({ label, text: plainText(text), width }),
    ),
  ];
}

// Most are skipped for one and the same reason.
function describeSkipped(checks: readonly EndpointCheck[], { width, paint }: Layout): string[] {
  const idsByReason = new Map<string, string[]>();
  for (const { id, outcome, detail } of checks) {
    if (outcome !== 'skipped') continue;
    idsByReason.set(detail, [...(idsByReason.get(detail) ?? []), id]);
  }
  return [...idsByReason].flatMap(([reason, ids]) => [
    '',
    ...wrapText(plainText(`skipped: ${ids.join(', ')}`), width).map((line) =>
      paint('yellow', line),
    ),
    ...labelledLines({ label: '  since ', text: plainText(reason), width }),
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
