import type { ControlFaults } from '../../mock-server/control/control-types.js';
import {
  faultTargets,
  faultTypesOn,
  matchFields,
} from '../../mock-server/faults/fault-catalogue.js';
import { plainText } from '../../protocol/plain-text.js';
import { requireWords } from '../arguments.js';
import {
  type Call,
  defineCommand,
  list as listOption,
  parsed,
  text,
  UsageError,
} from '../command.js';
import { connectToMock, mockUrlOption } from '../control-client.js';
import {
  describeFaults,
  readFaultMatch,
  readFaultType,
  showFaults,
  toFaultUsageError,
} from '../faults.js';
import { parseExactJson, parseOneOf, parseWholeNumber } from '../option-values.js';
import { countOf } from '../output.js';

const positionals = ['request|callback', 'type'] as const;

const addOptions = {
  times: parsed(
    {
      value: 'n',
      help: 'How often the fault happens: a whole number from 1, or unlimited. Default: 1',
    },
    (name, given) =>
      given === 'unlimited'
        ? given
        : parseWholeNumber(name, given, { min: 1, max: Number.MAX_SAFE_INTEGER }),
  ),
  match: listOption({
    value: 'field=value',
    help: 'Applies only to requests or callbacks with this value. Default: the next one, whatever its values',
  }),
  set: listOption({
    value: 'field=value',
    help: 'A field of the fault. The body of client-error and the value of extra-field may be JSON.',
  }),
  'fault-json': text({
    value: 'json',
    help: 'The whole fault as JSON, in place of all of the above.',
  }),
  'mock-url': mockUrlOption,
};

export const add = defineCommand({
  name: 'fault add',
  summary: 'Adds a fault to the running mock, on a request or on a callback.',
  positionals,
  wordChoices: [faultTargets, faultTargets.flatMap(faultTypesOn)],
  checksWords: true,
  options: addOptions,
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
    `merchant-payments fault add --fault-json '{"on":"callback","type":"drop"}'`,
  ],
  async run(call) {
    const body = readFault(call);
    const given = call.options['fault-json'] === undefined ? 'flags' : 'json';
    return connectToMock(call)
      .call<ControlFaults>({ method: 'POST', path: ['faults'], body })
      .then(
        (answer) => showFaults(answer),
        (error: unknown) => {
          throw toFaultUsageError(error, given);
        },
      );
  },
});

function readFault({ options, words }: Call<typeof addOptions>): unknown {
  const { times, match, set, 'fault-json': json } = options;
  if (json !== undefined) {
    if (words.length > 0 || times !== undefined || match.length + set.length > 0) {
      throw new UsageError('--fault-json holds the whole fault: leave out the other arguments');
    }
    return parseFaultJson(json);
  }
  requireWords(words, positionals);
  const [target = '', type = ''] = words;
  const on = parseOneOf('the target', target, faultTargets);
  return {
    ...readFaultType(on, type, set),
    ...(times === undefined ? {} : { times }),
    ...(match.length === 0 ? {} : { match: readFaultMatch(on, match) }),
  };
}

/** @throws {UsageError} for invalid JSON */
function parseFaultJson(json: string): unknown {
  try {
    return parseExactJson('--fault-json', json);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--fault-json must be JSON, such as '{"on":"callback","type":"drop"}'; put it in single quotes`,
    );
  }
}

export const list = defineCommand({
  name: 'fault list',
  summary: 'Lists the pending faults of the running mock, oldest first.',
  options: { 'mock-url': mockUrlOption },
  examples: ['merchant-payments fault list'],
  run: async (call) =>
    showFaults(await connectToMock(call).call<ControlFaults>({ path: ['faults'] })),
});

export const remove = defineCommand({
  name: 'fault remove',
  summary: 'Removes one fault of the running mock.',
  positionals: ['id'],
  options: { 'mock-url': mockUrlOption },
  details: ['The id is the one that fault list shows.'],
  examples: ['merchant-payments fault remove 2'],
  async run(call) {
    const [id = ''] = call.words;
    const left = await connectToMock(call).call<ControlFaults>({
      method: 'DELETE',
      path: ['faults', id],
    });
    return showFaults(left, `fault ${plainText(id)} removed`);
  },
});

export const clear = defineCommand({
  name: 'fault clear',
  summary: 'Removes every fault of the running mock.',
  options: { 'mock-url': mockUrlOption },
  examples: ['merchant-payments fault clear'],
  async run(call) {
    const client = connectToMock(call);
    const { faults } = await client.call<ControlFaults>({ path: ['faults'] });
    const left = await client.call<ControlFaults>({ method: 'DELETE', path: ['faults'] });
    return showFaults(left, `${countOf(faults.length, 'fault')} removed`);
  },
});
