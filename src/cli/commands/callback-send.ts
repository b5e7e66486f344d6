import type { CallbackFault } from 'merchant-payments/mock-server';
import { readList, readText, requirePositionals } from '../arguments.js';
import { createPaint } from '../colors.js';
import { type Arguments, type Command, type Terminal, UsageError } from '../command.js';
import { readFaultType } from '../fault-arguments.js';
import { describeFaults } from '../fault-catalogue.js';
import { parseHttpUrl, parseWholeNumber } from '../option-values.js';
import {
  type CallbackInput,
  callbackOptions,
  readCallbackInput,
} from '../outgoing/callback-options.js';
import type { SentCallback } from '../outgoing/sent-callback.js';
import {
  describeFailure,
  describeSent,
  type JudgedCallback,
  toJsonSent,
} from '../outgoing/sent-text.js';
import { printJson, printLine, wantsJson } from '../output.js';

const LONGEST_TIMER_MS = 2_147_483_647;
const MAX_TIMES = 1_000;

export const command: Command = {
  name: 'callback send',
  summary: 'Sends a signed callback to an endpoint, in order or with a fault.',
  positionals: '<callback-url>',
  options: {
    ...callbackOptions,
    fault: {
      type: 'string',
      value: 'type',
      help: 'What is to be wrong with it, one of those below. Without it nothing is.',
    },
    set: {
      type: 'string',
      multiple: true,
      value: 'field=value',
      help: "A field of the fault's own, such as copies=3.",
    },
    times: {
      type: 'string',
      value: 'n',
      help: `How many are sent, one after the other, each of a payment of its own: 1 to ${MAX_TIMES}. Default: 1`,
    },
    timeout: {
      type: 'string',
      value: 'ms',
      help: 'How long the endpoint may take to answer, in milliseconds. Default: 10000',
    },
  },
  details: [
    'Faults, and their fields:',
    ...describeFaults('callback'),
    '',
    'With a fault, of the record only --reference and --status can be given. With drop the callback',
    'comes with the retry; with reorder an older change, to pending, comes after the given one.',
    '',
    'It is done when the endpoint accepted with 2xx what verifies, and refused with 4xx what does',
    'not; otherwise it failed. Of copies that came at once, all but one may be answered with 503.',
  ],
  examples: [
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --reference order-1',
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --fault wrong-secret',
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --fault duplicate --set mode=at-once --set copies=4',
  ],
  async run(given, terminal) {
    const [address = ''] = requirePositionals(given, 'callback-url');
    const url = parseHttpUrl('<callback-url>', address);
    const fault = readFault(given);
    const times = readNumber(given, 'times', { fallback: 1, max: MAX_TIMES });
    const timeoutMs = readNumber(given, 'timeout', { fallback: 10_000, max: LONGEST_TIMER_MS });
    const input = await readCallbackInput(given, terminal);
    const sent = await send({ url, input, fault, times, timeoutMs });
    const { judgeAnswers } = await import('../outgoing/judgement.js');
    const judgements = judgeAnswers(sent, {
      signingSecret: input.signingSecret,
      areCopiesAtOnce: fault?.type === 'duplicate' && fault.mode === 'at-once',
    });
    const judged = judgements.flatMap((judgement, index) => {
      const one = sent[index];
      return one === undefined ? [] : [{ sent: one, judgement }];
    });
    return report(judged, given, terminal);
  },
};

interface Sending {
  readonly url: URL;
  readonly input: CallbackInput;
  readonly fault: CallbackFault | undefined;
  readonly times: number;
  readonly timeoutMs: number;
}

async function send({ fault, ...sending }: Sending): Promise<readonly SentCallback[]> {
  if (fault !== undefined) {
    const { sendFaultyCallbacks } = await import('../outgoing/faulty-callbacks.js');
    return sendFaultyCallbacks({ ...sending, fault });
  }
  const { postCallback } = await import('../outgoing/post.js');
  const { signInput } = await import('../outgoing/signing.js');
  const { url, input, times, timeoutMs } = sending;
  const sent: SentCallback[] = [];
  for (let count = 0; count < times; count += 1) {
    sent.push(await postCallback({ url, ...signInput(input) }, timeoutMs));
  }
  return sent;
}

function readFault(given: Arguments): CallbackFault | undefined {
  const type = readText(given, 'fault');
  const set = readList(given, 'set');
  if (type !== undefined) return readFaultType('callback', type, set) as unknown as CallbackFault;
  if (set.length === 0) return undefined;
  throw new UsageError('--set gives a field of a fault: give --fault too');
}

function readNumber(
  given: Arguments,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const text = readText(given, name);
  return text === undefined ? fallback : parseWholeNumber(`--${name}`, text, { min: 1, max });
}

function report(all: readonly JudgedCallback[], given: Arguments, terminal: Terminal): 0 | 1 {
  const failure = describeFailure(all);
  if (wantsJson(given)) {
    printJson(terminal, { isAsExpected: failure === undefined, sent: all.map(toJsonSent) });
  } else {
    const paint = createPaint(terminal.stdout);
    for (const line of all.flatMap((one) => describeSent(one, paint))) printLine(terminal, line);
  }
  // One line, on stderr as every failure: the callbacks went out, the endpoint is what failed.
  if (failure !== undefined) throw new Error(failure);
  if (!wantsJson(given)) printLine(terminal, 'the endpoint answered as it should');
  return 0;
}
