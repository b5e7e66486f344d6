import {
  htmlFinding,
  lineEndingsFinding,
  markAdded,
  markRemoved,
  newlineAdded,
  newlineRemoved,
  reorderedFinding,
  respacedFinding,
  slashesFinding,
  spaceAdded,
  unicodeFinding,
} from './body-findings.js';
import type { CallbackFinding, Reading } from './diagnosis.js';
import {
  detectEscapes,
  type HtmlEscapes,
  type JsonEscapes,
  jsonLayouts,
  type KeyOrder,
  reorderKeys,
  touchesHtml,
  writeJson,
} from './json-style.js';
import { type JsonNode, readJson, stringsOf } from './json-text.js';

/** One way to write the body. The text is made only when it is asked for. */
export interface Spelling extends Reading {
  write(): string;
}

interface Edge {
  readonly lead: string;
  readonly trail: string;
  readonly findings: readonly CallbackFinding[];
}

interface Choice<Value> {
  readonly value: Value;
  readonly findings: readonly CallbackFinding[];
}

// With more differences than this a body has nothing left in common with what was signed, and the
// number of spellings multiplies.
export const MAX_DIFFERENCES = 4;

/** The spellings with so many differences. */
export type Spellings = (weight: number) => readonly Spelling[];

/**
 * The ways in which the text could have been written when it was signed: byte order mark, line
 * breaks, white space around it, and when it is JSON its layout, key order and escapes.
 */
export function listSpellings(text: string): Spellings {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  const { lead, core, trail } = splitEdges(text.slice(mark.length));
  const lineEnd = core.includes('\r\n') ? '\n' : '\r\n';
  const frames = listFrames(listMarks(mark), listEdges(lead, trail), [
    { value: (written) => written, findings: [] },
    { value: convertLineEnds, findings: [lineEndingsFinding(lineEnd)] },
  ]);
  const cores = [toSpelling([], () => core), ...listJsonSpellings(core)];
  return (weight) =>
    weight > MAX_DIFFERENCES
      ? []
      : cores.flatMap((written) =>
          frames
            .filter((frame) => frame.findings.length + written.weight === weight)
            .map(({ findings, value: frame }) =>
              toSpelling([...written.findings, ...findings], () => frame(written.write())),
            ),
        );
}

function listMarks(mark: string): readonly Choice<string>[] {
  const other: Choice<string> =
    mark === ''
      ? { value: '\ufeff', findings: [markRemoved] }
      : { value: '', findings: [markAdded] };
  return [{ value: mark, findings: [] }, other];
}

type Rewriting = (text: string) => string;

/** What can be around the JSON, and be done to all of it. */
function listFrames(
  marks: readonly Choice<string>[],
  edges: readonly Edge[],
  lineEnds: readonly Choice<Rewriting>[],
): readonly Choice<Rewriting>[] {
  return product(marks, edges, lineEnds).map(([mark, { lead, trail, findings }, rewrite]) => ({
    value: (core) => rewrite.value(mark.value + lead + core + trail),
    findings: [...findings, ...mark.findings, ...rewrite.findings],
  }));
}

function toSpelling(findings: readonly CallbackFinding[], write: () => string): Spelling {
  return { findings, weight: findings.length, write };
}

function product<First, Second, Third>(
  firsts: readonly First[],
  seconds: readonly Second[],
  thirds: readonly Third[],
): readonly (readonly [First, Second, Third])[] {
  return firsts.flatMap((first) =>
    seconds.flatMap((second) => thirds.map((third) => [first, second, third] as const)),
  );
}

const SPACE = ' \t\r\n\f\v';

// No pattern: one that looks for white space at the end is quadratic for a body of white space.
function splitEdges(text: string): { lead: string; core: string; trail: string } {
  let start = 0;
  while (start < text.length && SPACE.includes(text.charAt(start))) start += 1;
  let end = text.length;
  while (end > start && SPACE.includes(text.charAt(end - 1))) end -= 1;
  return { lead: text.slice(0, start), core: text.slice(start, end), trail: text.slice(end) };
}

function listEdges(lead: string, trail: string): readonly Edge[] {
  const edges: Edge[] = [{ lead, trail, findings: [] }];
  const isOneLineBreak = lead === '' && (trail === '\n' || trail === '\r\n');
  if (isOneLineBreak) edges.push({ lead, trail: '', findings: [newlineAdded] });
  else if (lead + trail !== '') edges.push({ lead: '', trail: '', findings: [spaceAdded] });
  if (!isOneLineBreak && trail.endsWith('\n')) {
    edges.push({ lead, trail: trail.replace(/\r?\n$/, ''), findings: [newlineAdded] });
  }
  if (trail === '') {
    for (const lineBreak of ['\n', '\r\n'] as const) {
      edges.push({ lead, trail: lineBreak, findings: [newlineRemoved(lineBreak)] });
    }
  }
  return edges;
}

function convertLineEnds(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');
}

/** Nothing for text that is no JSON document of more than one value. */
function listJsonSpellings(core: string): readonly Spelling[] {
  const root = readJson(core);
  if (root === undefined || root.kind === 'literal') return [];
  const lineBreak = core.includes('\r\n') ? '\r\n' : '\n';
  const captured = jsonLayouts.find(
    (layout) => writeJson(root, { layout, lineBreak, escapes: undefined }) === core,
  );
  const layouts = jsonLayouts.map((layout) => ({
    value: layout,
    findings: layout === captured ? [] : [respacedFinding(layout, captured)],
  }));
  return product(listOrders(root), listEscapes(root), layouts).map(([order, escapes, layout]) =>
    toSpelling([...layout.findings, ...order.findings, ...escapes.findings], () =>
      writeJson(order.value, { layout: layout.value, lineBreak, escapes: escapes.value }),
    ),
  );
}

function listOrders(root: JsonNode): readonly Choice<JsonNode>[] {
  const shapes = new Set([orderOf(root)]);
  const orders: Choice<JsonNode>[] = [{ value: root, findings: [] }];
  for (const order of ['interface', 'sorted'] as const satisfies readonly KeyOrder[]) {
    const reordered = reorderKeys(root, order);
    const shape = orderOf(reordered);
    if (shapes.has(shape)) continue;
    shapes.add(shape);
    orders.push({ value: reordered, findings: [reorderedFinding(order)] });
  }
  return orders;
}

function orderOf(node: JsonNode): string {
  return stringsOf(node)
    .map(({ raw }) => raw)
    .join();
}

/** Nothing as a value keeps the strings as they were written. */
function listEscapes(root: JsonNode): readonly Choice<JsonEscapes | undefined>[] {
  const strings = stringsOf(root);
  const text = strings.map((one) => one.text).join('');
  const captured = detectEscapes(strings.map(({ raw }) => raw).join(''));
  const habits = listHtmlEscapes(text, captured.html);
  const slashHabits = text.includes('/') ? [false, true] : [captured.slashes];
  const unicodeHabits = listUnicodeEscapes(text, captured.unicode);
  return product(unicodeHabits, slashHabits, habits).map(([unicode, slashes, html]) => {
    const escapes: JsonEscapes = { html, slashes, unicode };
    const findings = compareEscapes(escapes, captured);
    return { value: findings.length === 0 ? undefined : escapes, findings };
  });
}

function compareEscapes(signed: JsonEscapes, captured: JsonEscapes): readonly CallbackFinding[] {
  const findings: CallbackFinding[] = [];
  if (signed.slashes !== captured.slashes) findings.push(slashesFinding(signed));
  if (signed.unicode !== captured.unicode) findings.push(unicodeFinding(signed));
  if (signed.html !== captured.html) findings.push(htmlFinding(signed));
  return findings;
}

function listHtmlEscapes(text: string, captured: HtmlEscapes): readonly HtmlEscapes[] {
  const habits = (['none', 'go', 'gson', 'dotnet'] as const).filter(
    (html) => html === 'none' || touchesHtml(html, text),
  );
  return habits.includes(captured) ? habits : [...habits, captured];
}

function listUnicodeEscapes(
  text: string,
  captured: JsonEscapes['unicode'],
): readonly JsonEscapes['unicode'][] {
  return /[^\0-\x7f]/.test(text) ? ['plain', 'lower', 'upper'] : [captured];
}
