import type {
  ControlFault,
  ControlFaults,
  ControlState,
} from '../../mock-server/control/control-types.js';
import {
  type FaultParameter,
  type FaultTarget,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
  matchFields,
} from '../../mock-server/faults/fault-catalogue.js';
import { nearest } from '../../protocol/options.js';
import { plainJson } from '../../protocol/plain-text.js';
import {
  type Definition,
  defineCommand,
  list as listOption,
  type Outcome,
  parsed,
  UsageError,
} from '../command.js';
import { connectToMock, mockUrlOption } from '../control-client.js';
import { type Column, formatTable, type Layout } from '../layout.js';
import {
  parseDecimal,
  parseJsonOrText,
  parseOneOf,
  parseWholeNumber,
  readFields,
} from '../option-values.js';
import { countOf } from '../terminal.js';

export const add = defineCommand({
  summary: 'Makes the next request or callback go wrong.',
  positionals: ['request|callback', 'type'],
  options: {
    times: parsed(
      {
        value: 'n',
        help: 'How often the fault happens: a whole number from 1, or unlimited. Default: 1',
      },
      (name, given) => (given === 'unlimited' ? given : parseWholeNumber(name, given, { min: 1 })),
    ),
    match: listOption({
      value: 'field=value',
      help: 'Applies only to requests or callbacks with this value. Default: the next one, whatever its values',
    }),
    set: listOption({
      value: 'field=value',
      help: 'A field of the fault. The body of client-error may be JSON.',
    }),
    'mock-url': mockUrlOption,
  },
  details: [
    'Faults on a request and their fields:',
    ...describeFaults('request'),
    `Fields for --match: ${Object.keys(matchFields.request).join(', ')}.`,
    '',
    'Faults on a callback and their fields:',
    ...describeFaults('callback'),
    `Fields for --match: ${Object.keys(matchFields.callback).join(', ')}.`,
  ],
  examples: [
    'merchant-payments fault add request lost-answer',
    'merchant-payments fault add request delay --set delayMs=5000 --times 3',
    `merchant-payments fault add request client-error --set status=422 --set body='{"code":"LIMIT"}'`,
    'merchant-payments fault add callback duplicate --set mode=at-once --match status=paid --times unlimited',
  ],
  async run(call) {
    const { times, match, set } = call.options;
    const [target = '', type = ''] = call.words;
    const on = parseOneOf('the target', target, faultTargets);
    const body = {
      ...readFaultType(on, type, set),
      ...(times !== undefined && { times }),
      ...(match.length > 0 && { match: readFaultMatch(on, match) }),
    };
    const faults = { method: 'POST', path: ['faults'], body } as const;
    return showFaults(await connectToMock(call).call<ControlFaults>(faults));
  },
});

export const list = defineCommand({
  summary: 'Lists the pending faults, oldest first.',
  options: { 'mock-url': mockUrlOption },
  examples: ['merchant-payments fault list'],
  async run(call) {
    const { faults } = await connectToMock(call).get<ControlState>(['state']);
    return showFaults({ faults });
  },
});

export const clear = defineCommand({
  summary: 'Removes every fault.',
  options: { 'mock-url': mockUrlOption },
  examples: ['merchant-payments fault clear'],
  async run(call) {
    const client = connectToMock(call);
    const { faults } = await client.get<ControlState>(['state']);
    const left = await client.call<ControlFaults>({ method: 'DELETE', path: ['faults'] });
    return showFaults(left, `${countOf(faults.length, 'fault')} removed`);
  },
});

type Fields = Readonly<Record<string, unknown>>;
type Kinds = Readonly<Record<string, FaultParameter['kind'] | 'text'>>;

function kindsOf(type: keyof typeof faultCatalogue): Kinds {
  const { parameters = {} } = faultCatalogue[type];
  return Object.fromEntries(Object.entries(parameters).map(([name, { kind }]) => [name, kind]));
}

/** Describes the faults of a target for the help: type, parameters, effect. */
export function describeFaults(on: FaultTarget): Definition[] {
  return faultTypesOn(on).map((type) => {
    const names = Object.keys(kindsOf(type)).join(', ');
    return { term: names === '' ? type : `${type} (${names})`, text: faultCatalogue[type].text };
  });
}

/** Reads the type of a fault and its parameters. */
export function readFaultType(on: FaultTarget, type: string, set: readonly string[]): Fields {
  const types = faultTypesOn(on);
  const found = types.find((one) => one === type);
  if (found === undefined) {
    const close = nearest(type, types);
    const remedy =
      close === undefined ? `available: ${types.join(', ')}` : `did you mean ${close}?`;
    throw new UsageError(`there is no fault "${type}" on a ${on}; ${remedy}`);
  }
  return {
    on,
    type,
    ...readFields('--set', set, parseFieldOf('--set', `a ${type} fault`, kindsOf(found))),
  };
}

/** @throws {UsageError} for a field that faults on this target can't match */
export function readFaultMatch(on: FaultTarget, match: readonly string[]): Fields {
  const owner = `the match of a ${on} fault`;
  return readFields('--match', match, parseFieldOf('--match', owner, matchFields[on]));
}

const parseFieldOf =
  (option: string, owner: string, kinds: Kinds) =>
  (name: string, value: string): unknown => {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const known = Object.keys(kinds).join(', ') || 'none';
      throw new UsageError(`${option} ${name} is not a field of ${owner}; it has ${known}`);
    }
    if (kind === 'number') return parseDecimal(`${option} ${name}`, value);
    return kind === 'json' ? parseJsonOrText(value) : value;
  };

const columns: readonly Column<ControlFault>[] = [
  { title: 'id', text: ({ id }) => id, align: 'right' },
  { title: 'on', text: ({ on }) => on },
  { title: 'type', text: ({ type }) => type, style: () => 'yellow' },
  { title: 'times left', text: ({ times }) => String(times ?? 1), align: 'right' },
  { title: 'match', text: ({ match }) => describeFields(match ?? {}) },
  {
    title: 'fields',
    text: ({ id: _id, on: _on, type: _type, times: _times, match: _match, ...own }) =>
      describeFields(own),
  },
];

/** Shows what was done, and below it the pending faults. */
function showFaults(answer: ControlFaults, ...done: readonly string[]): Outcome {
  const { faults } = answer;
  const note = faults.length === 0 ? 'no faults are pending' : undefined;
  const table = (layout: Layout) =>
    note === undefined ? formatTable(columns, faults, layout) : [];
  return { json: answer, lines: (layout) => [...done, ...table(layout)], note };
}

function describeFields(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : plainJson(value)}`)
    .join(' ');
}
