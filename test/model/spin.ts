// Compares the model of the replays with the one that SPIN explores: every step that SPIN takes must be among those that
// are replayed, and end in the same row. `node --import tsx test/model/spin.ts`; it needs spin and gcc.
import { execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import {
  after,
  CLAIMS,
  mayClaim,
  type Outcome,
  type Payment,
  payments,
  type Row,
  type State,
  type Step,
  type Token,
} from './order.js';
import { everyStep } from './traces.js';

const run = promisify(execFile);
const { folder, withFolder } = (await import(path.resolve('model/spin.mjs'))) as {
  folder: string;
  withFolder: <Result>(use: (scratch: string) => Promise<Result>) => Promise<Result>;
};

/** The switches of model/payments.pml under which SPIN explores every state. */
const SETTINGS = [['OTHER_PROGRAM=1'], ['PEOPLE=1'], ['LOOKS_UP=1'], ['SENDS_AGAIN=1']];

// Promela numbers the names of an mtype from its last one.
const STATES = [
  'created',
  'unheard',
  'rejected',
  'unresolved',
  'sending',
  'recorded',
  'elsewhere',
  'nothing',
] as const satisfies State[];
const OUTCOMES = [
  'answered',
  'accepted',
  'unknown',
  'refused',
  'not-sent',
] as const satisfies Outcome[];

const FIELDS = [
  'state',
  'body',
  'owner',
  'lease',
  'over[lease]',
  'attempts',
  'reference',
  'paidBy',
  'listed[1]',
  'listed[2]',
];
const NUMBERS = FIELDS.map(() => '%d').join(' ');

/** The statements of a step, between two that print the row. */
function printed(name: string, values: readonly string[], statements: string): string {
  const numbers = values.map(() => '%d ').join('');
  const before = `printf("B ${name} ${numbers}| ${NUMBERS}\\n", ${[...values, ...FIELDS].join(', ')})`;
  return `${before}; ${statements}; printf("A ${NUMBERS}\\n", ${FIELDS.join(', ')})`;
}

/** Where model/payments.pml takes a step, its name and its arguments. */
const PLACES: readonly [statements: string, name: string, ...values: string[]][] = [
  ['claim(hasBody, wanted)', 'claim', 'hasBody', 'wanted'],
  ['record(wanted)', 'record', 'wanted'],
  ['expire()', 'expire'],
  ['over[lease] = true', 'tick'],
  ['finish()', 'finish', 'me', 'result', 'number'],
  ['settle(number, false, true)', 'callback', 'number', '0'],
  ['settle(number, true, true)', 'callback', 'number', '1'],
  ['resolve(RECORDED, 0)', 'recorded', '0', 'seen'],
  ['resolve(REJECTED, 0)', 'rejected', '0', 'seen'],
  ['resolve(UNHEARD, 1)', 'unheard', '1', 'seen'],
  ['resolve(UNHEARD, found)', 'unheard', 'found', 'seen'],
];

/** The model with every step printed, except where one is a part of another. */
function withPrints(model: string): string {
  const at = model.indexOf('/* ---- The service ---- */');
  return PLACES.reduce((text, [statements, name, ...values]) => {
    const parts = text.slice(at).split(statements);
    if (parts.length === 1) throw new Error(`model/payments.pml has no ${statements}`);
    return text.slice(0, at) + parts.join(printed(name, values, statements));
  }, model);
}

interface Taken {
  readonly row: Row;
  readonly step: Step;
  readonly changed: Row;
}

/** The different steps that SPIN takes in a setting, and how many states it explores. */
async function explore(switches: readonly string[]): Promise<{ taken: string[]; states: string }> {
  return withFolder(async (scratch) => {
    const model = withPrints(await readFile(path.join(folder, 'payments.pml'), 'utf8'));
    await writeFile(path.join(scratch, 'payments.pml'), model);
    await writeFile(
      path.join(scratch, 'order.pml'),
      await readFile(path.join(folder, 'order.pml'), 'utf8'),
    );
    const cwd = { cwd: scratch };
    await run('spin', ['-a', ...switches.map((name) => `-D${name}`), 'payments.pml'], cwd);
    const flags = ['-O1', '-w', '-DSAFETY', '-DCOLLAPSE', '-DNOCLAIM', '-DPRINTF'];
    await run('gcc', [...flags, '-o', 'pan', 'pan.c'], cwd);
    const pan = spawn(path.join(scratch, 'pan'), ['-m100000', '-w22'], cwd);
    const taken = new Set<string>();
    let before = '';
    let states = '';
    for await (const line of createInterface({ input: pan.stdout })) {
      if (line.startsWith('B ')) before = line.slice(2);
      else if (line.startsWith('A ')) taken.add(`${before}|${line.slice(1)}`);
      else if (line.includes('max search depth too small')) throw new Error(line);
      states = /^\s*(\S+) states, stored/.exec(line)?.[1] ?? states;
    }
    if (states === '') throw new Error(`SPIN did not explore ${switches.join(' ')}`);
    return { taken: [...taken], states };
  });
}

function parse(line: string): Taken {
  const [words = '', before = '', after = ''] = line.split('|').map((part) => part.trim());
  const [name = '', ...values] = words.split(' ');
  return {
    row: toRow(before),
    step: toStep(name, values.map(Number)),
    changed: toRow(after),
  };
}

function toRow(line: string): Row {
  const [state = 0, body, owner, lease, isOver, attempts, reference, paidBy, first, second] = line
    .split(' ')
    .map(Number);
  const name = STATES[state - 1] as State;
  return {
    state: name,
    body: name === 'nothing' || name === 'elsewhere' ? undefined : toBody(body),
    owner: owner as Token,
    lease: lease as Token,
    isOver: lease !== 0 && isOver === 1,
    attempts: attempts as Token,
    reference: reference as Payment,
    paidBy: paidBy as Payment,
    listed: [first === 1, second === 1],
  };
}

const toBody = (body: number | undefined) => (body === 1 ? 'B' : 'A');

function toStep(name: string, [first = 0, second = 0, third = 0]: number[]): Step {
  switch (name) {
    case 'claim':
      return { name, body: first === 1 ? toBody(second) : undefined };
    case 'record':
      return { name, body: toBody(first) };
    case 'expire':
    case 'tick':
      return { name };
    case 'finish': {
      const outcome = OUTCOMES[second - 1] as Outcome;
      return { name, token: first as Token, outcome, payment: third as Payment };
    }
    case 'callback':
      return { name, payment: first as Payment, isPaid: second === 1 };
    default: {
      const as = name as 'recorded' | 'rejected' | 'unheard';
      return { name: 'resolve', as, payment: first as Payment, seen: second as Token };
    }
  }
}

const nameOf = (row: Row, step: Step) => JSON.stringify([row, step]);

const replayed = new Set(everyStep(payments).steps.map(([{ row }, step]) => nameOf(row, step)));
const compared = new Set<string>();
const wrong: string[] = [];
for (const switches of SETTINGS) {
  const { taken, states } = await explore(switches);
  for (const { row, step, changed } of taken.map(parse)) {
    // Where a run of the model ends, a claim that would be granted is not.
    if (step.name === 'claim' && row.attempts === CLAIMS && mayClaim(row, step.body)) continue;
    const name = nameOf(row, step);
    compared.add(name);
    const isSame = JSON.stringify(after(row, step)) === JSON.stringify(changed);
    if (!isSame) wrong.push(`${name} ends in ${JSON.stringify(changed)} in SPIN`);
    else if (!replayed.has(name)) wrong.push(`${name} is not replayed`);
  }
  console.log(`${switches.join(' ')}: ${states} states, ${taken.length} different steps`);
}
console.log(
  `${compared.size} steps that SPIN takes, of ${replayed.size} that are replayed: ${wrong.length} differ`,
);
for (const one of wrong.slice(0, 10)) console.log(one);
process.exitCode = wrong.length === 0 && compared.size > 1_000 ? 0 : 1;
