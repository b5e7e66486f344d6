// Writes the tables of docs/the-field.md from results.json: `node bench/field/page.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { faults } from './faults.mjs';

/** Puts every table between its comments: `<!-- calls -->` and `<!-- /calls -->`. */
export function withTables(page, results) {
  const tables = {
    about: about(results),
    'calls-without-keys': summary(results.calls, false),
    'calls-with-keys': summary(results.calls, true),
    calls: details(results.calls),
    receivers: receivers(results.deliveries),
    outboxes: outboxes(results.crashes),
  };
  return Object.entries(tables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- /${name} -->)`),
        (_, start, end) => `${start}\n${table}\n${end}`,
      ),
    page,
  );
}

function about({ date, node, postgres, versions }) {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${date}, Node ${node}, Postgres ${postgres}: ${names.join(', ')}.`;
}

const table = (head, rows) => [head, head.map(() => '---'), ...rows].map(toLine).join('\n');
const toLine = (cells) => `| ${cells.join(' | ')} |`;
const namesIn = (results, key) => [...new Set(results.map((result) => result[key]))];

function summary(calls, keys) {
  const wanted = calls.filter((call) => call.keys === keys);
  const rows = namesIn(wanted, 'subject').map((subject) => {
    const of = wanted.filter((call) => call.subject === subject);
    const once = of.filter(({ clicks }) => clicks === 1);
    const clicked = of.filter(({ clicks }) => clicks === 2);
    const count = (verdict) => once.filter((call) => call.verdict === verdict).length;
    const twice = clicked.filter(({ verdict }) => verdict === 'twice').length;
    const verdicts = ['right', 'unknown', 'wrong', 'nothing', 'twice'].map(count);
    return [subject, ...verdicts, clicked.length === 0 ? '–' : twice];
  });
  const head = [
    'client',
    'right',
    '"unknown"',
    'wrong',
    'no end',
    'two payments',
    'two after another click',
  ];
  return table(head, rows);
}

const words = { created: 'yes', 'not created': 'no', unknown: '?', nothing: '…' };

function details(calls) {
  const wanted = calls.filter(({ keys, clicks }) => !keys && clicks === 1);
  const subjects = namesIn(wanted, 'subject');
  const rows = faults.map(({ name, text }) => [
    text,
    ...subjects.map((subject) => {
      const call = wanted.find((one) => one.fault === name && one.subject === subject);
      const cell = `${call.requests}→${call.payments} ${words[call.says]}`;
      return call.verdict === 'twice' || call.verdict === 'wrong' ? `**${cell}**` : cell;
    }),
  ]);
  return table(['fault', ...subjects], rows);
}

function receivers(deliveries) {
  const names = namesIn(deliveries, 'receiver');
  const rows = namesIn(deliveries, 'scenario').map((scenario) => [
    scenario,
    ...names.map((receiver) => {
      const found = deliveries.find(
        (one) => one.scenario === scenario && one.receiver === receiver,
      );
      const cell = `${found.shipments}, ${found.status ?? 'none'}`;
      return found.isRight ? cell : `**${cell}**`;
    }),
  ]);
  return table(['deliveries', ...names], rows);
}

function outboxes(crashes) {
  const rows = crashes.map((crash) => {
    const { outbox, keys, requests, payments, state, knows, afterCallback, knowsAfterCallback } =
      crash;
    return [
      outbox,
      keys ? 'recognised' : 'ignored',
      requests,
      payments > 1 ? `**${payments}**` : payments,
      `\`${state}\`, ${knows ?? 'no number'}`,
      `\`${afterCallback}\`, ${knowsAfterCallback ?? 'no number'}`,
    ];
  });
  const head = [
    'outbox',
    'keys',
    'requests',
    'payments',
    'the shop knows',
    'after the callback of pay_1',
  ];
  return table(head, rows);
}

export function writePage(results) {
  const page = new URL('../../docs/the-field.md', import.meta.url);
  writeFileSync(page, withTables(readFileSync(page, 'utf8'), results));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writePage(JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8')));
}
