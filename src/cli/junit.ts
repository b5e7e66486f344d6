import type { EndpointCheck, EndpointReport } from 'merchant-payments/testing';

/** A report as JUnit XML, which CI servers show as test results. */
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
    // Without fraction and offset, as the schema of JUnit asks for.
    `  <testsuite${attributes({ name: url, ...totals, timestamp: startedAt.slice(0, 19) })}>`,
    ...checks.flatMap(writeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function writeCase(check: EndpointCheck): string[] {
  const { id, title, outcome, detail, why, remedy, answer, latencyMs = 0 } = check;
  const said = answer === undefined ? '' : `\nIt said: ${answer}`;
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

// XML 1.0 has no way to write these, not even as references.
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

// A parser would read a plain line break of an attribute as a space.
function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
}
