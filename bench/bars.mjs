// Draws docs/images/speed.svg, and writes the table of docs/speed.md, from results.json:
// `node bench/run.mjs --json > bench/results.json && node bench/bars.mjs`.

import { readFileSync, writeFileSync } from 'node:fs';
import { isStarted } from './report.mjs';

// As wide as the text of a page on a telephone.
const WIDTH = 336;
const BAR_WIDTH = 270;
const LINE = 36;
const TITLE_LINE = 14;
const RATIO = ', ratio to ';

const escapeXml = (text) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

const wasMeasured = ({ value }) => value !== undefined;

/** Lines of a title, as long as the picture is wide. */
const wrap = (title) => title.match(/\S.{0,53}(?!\S)/g);

/** The bars of one suite under its title, from `top` on; the first row that has a goal is ours. */
function drawSuite({ title, rows }, top) {
  const bars = rows.filter((row) => wasMeasured(row) && !row.subject.startsWith('  '));
  const ours =
    bars.find(({ goal, subject }) => goal !== undefined || subject === 'merchant-payments') ??
    bars[0];
  const longest = Math.max(1, ...bars.map(({ value }) => value));
  const [what, floor] = title.split(RATIO);
  const heading = [...wrap(what), ...wrap(`ratio to ${floor}`)].map(
    (text, index) =>
      `<text x="0" y="${top + 12 + TITLE_LINE * index}" class="title">${escapeXml(text)}</text>`,
  );
  const first = top + TITLE_LINE * heading.length + 8;
  const lines = bars.map((bar, index) => {
    const y = first + LINE * index;
    const width = Math.max(1, (bar.value / longest) * BAR_WIDTH).toFixed(1);
    const [name] = bar.subject.replace(/ \(.*$/, '').split(RATIO);
    return [
      `<text x="0" y="${y + 12}">${escapeXml(name)}</text>`,
      `<rect x="0" y="${y + 16}" width="${width}" height="14"${bar === ours ? ' class="ours"' : ''}/>`,
      `<text x="${(Number(width) + 6).toFixed(1)}" y="${y + 27}">${escapeXml(bar.figure.trim())}</text>`,
    ].join('');
  });
  return { text: [...heading, ...lines].join('\n'), bottom: first + LINE * bars.length + 16 };
}

/** The ratios of all suites as bars. */
export function drawBars({ suites }) {
  let bottom = 0;
  const parts = suites
    .filter(({ title, rows }) => title.includes(RATIO) && rows.some(wasMeasured))
    .map((suite) => {
      const drawn = drawSuite(suite, bottom);
      bottom = drawn.bottom;
      return drawn.text;
    });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom}" width="${WIDTH}" height="${bottom}" role="img" aria-label="What each part costs, as bars of ratios">
<style>
text { font: 12px Helvetica, Arial, 'Liberation Sans', sans-serif; fill: #24292f; }
.title { font-size: 11px; font-weight: 600; }
rect { fill: #8c959f; }
.ours { fill: #0969da; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } rect { fill: #6e7681; } .ours { fill: #58a6ff; } }
</style>
${parts.join('\n')}
</svg>
`;
}

/** What was measured against what, as a Markdown table. */
export function tableOf({ date, suites }) {
  const lines = suites.flatMap((suite) => {
    const [what, floor = ''] = suite.title.split(RATIO);
    return suite.rows
      .filter(wasMeasured)
      .map(({ subject, figure, goal = '' }, index) =>
        [
          index === 0 ? what : '',
          subject.trim(),
          index === 0 ? floor : '',
          figure.trim(),
          goal,
          suite.date ?? date,
        ].map((cell) => cell.replaceAll('|', '\\|')),
      );
  });
  return [
    '| measured | of | against | result | goal | on |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' ')),
  ].join('\n');
}

/** The page with its table replaced. */
export function withTable(page, results) {
  return page.replace(
    /(<!-- table -->\n).*?(<!-- \/table -->)/s,
    (_, begin, end) => `${begin}\n${tableOf(results)}\n\n${end}`,
  );
}

if (isStarted(import.meta.url)) {
  const at = (path) => new URL(path, import.meta.url);
  const file = at('./results.json');
  // A run does not say its date.
  const date = new Date().toISOString().slice(0, 10);
  const results = { date, ...JSON.parse(readFileSync(file, 'utf8')) };
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
  const page = at('../docs/speed.md');
  writeFileSync(at('../docs/images/speed.svg'), drawBars(results));
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), results));
}
