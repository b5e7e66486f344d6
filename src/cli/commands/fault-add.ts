import type { ControlFaults } from 'merchant-payments/mock-server';
import { readList, readText, requirePositionals } from '../arguments.js';
import { type Arguments, type Command, UsageError } from '../command.js';
import { connectToMock, mockUrlOption } from '../control/client.js';
import { parseExactJson } from '../exact-json.js';
import { readFaultMatch, readFaultType } from '../fault-arguments.js';
import { describeFaults, faultTargets, matchFields } from '../fault-catalogue.js';
import { toFaultUsageError } from '../fault-refusal.js';
import { printFaults } from '../fault-text.js';
import { parseOneOf, parseWholeNumber } from '../option-values.js';

export const command: Command = {
  name: 'fault add',
  summary: 'Has something go wrong in the running mock, with a request or with a callback.',
  positionals: '<request|callback> <type>',
  options: {
    times: {
      type: 'string',
      value: 'n',
      help: 'How often it happens before it is used up: a whole number from 1, or unlimited. Default: 1',
    },
    match: {
      type: 'string',
      multiple: true,
      value: 'field=value',
      help: 'Only for what has this value there. Without it, for whatever comes next.',
    },
    set: {
      type: 'string',
      multiple: true,
      value: 'field=value',
      help: "A field of the fault's own. The value of extra-field may be JSON.",
    },
    'fault-json': {
      type: 'string',
      value: 'json',
      help: 'The whole fault as JSON, instead of all of the above.',
    },
    'mock-url': mockUrlOption,
  },
  details: [
    'Faults on a request, and their fields:',
    ...describeFaults('request'),
    `  Matched by ${Object.keys(matchFields.request).join(', ')}.`,
    '',
    'Faults on a callback, and their fields:',
    ...describeFaults('callback'),
    `  Matched by ${Object.keys(matchFields.callback).join(', ')}.`,
  ],
  examples: [
    'merchant-payments fault add request lost-answer',
    'merchant-payments fault add request delay --set delayMs=5000 --times 3',
    'merchant-payments fault add callback duplicate --set mode=at-once --match status=paid --times unlimited',
    `merchant-payments fault add --fault-json '{"on":"callback","type":"drop"}'`,
  ],
  async run(given, terminal) {
    const faults = await connectToMock(given, terminal)
      .call<ControlFaults>({
        method: 'POST',
        path: ['faults'],
        body: readFault(given),
      })
      .catch((error: unknown) => {
        throw toFaultUsageError(error, readText(given, 'fault-json') === undefined);
      });
    printFaults(faults, given, terminal);
    return 0;
  },
};

function readFault(given: Arguments): unknown {
  const json = readText(given, 'fault-json');
  const times = readText(given, 'times');
  const match = readList(given, 'match');
  const set = readList(given, 'set');
  if (json !== undefined) {
    if (given.positionals.length > 0 || times !== undefined || match.length + set.length > 0) {
      throw new UsageError('--fault-json holds the whole fault: give nothing else of it beside');
    }
    return parseFaultJson(json);
  }
  const [target, type] = requirePositionals(given, 'request|callback', 'type') as [string, string];
  const on = parseOneOf('the first word', target, faultTargets);
  return {
    ...readFaultType(on, type, set),
    ...(times === undefined ? {} : { times: readTimes(times) }),
    ...(match.length === 0 ? {} : { match: readFaultMatch(on, match) }),
  };
}

function readTimes(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  return parseWholeNumber('--times', text, { min: 1, max: Number.MAX_SAFE_INTEGER });
}

function parseFaultJson(text: string): unknown {
  try {
    return parseExactJson('--fault-json', text);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--fault-json must be JSON, such as '{"on":"callback","type":"drop"}'; mind the quotes around it`,
    );
  }
}
