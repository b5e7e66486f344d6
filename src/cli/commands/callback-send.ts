import type { CallbackFault } from 'merchant-payments/mock-server';
import { defineCommand, withDefault } from '../command.js';
import { callbackFaultOptions, describeFaults, readCallbackFault } from '../faults.js';
import { parseHttpUrl } from '../option-values.js';
import { callbackOptions, readCallbackInput } from '../outgoing.js';
import { createPaint, printJson, printLine } from '../output.js';
import { timeoutOption, wholeNumber } from '../shared-options.js';

const MAX_TIMES = 1_000;

export const send = defineCommand({
  name: 'callback send',
  summary: 'Sends a signed callback to an endpoint, valid or with a fault.',
  positionals: ['callback-url'],
  options: {
    ...callbackOptions,
    ...callbackFaultOptions('What is wrong with it, one of those below. Without it nothing is.'),
    times: withDefault(
      wholeNumber(
        {
          value: 'n',
          help: `How many are sent, one after the other, each of another payment: 1 to ${MAX_TIMES}. Default: 1`,
        },
        { min: 1, max: MAX_TIMES },
      ),
      1,
    ),
    timeout: timeoutOption('How long the endpoint may take to answer, in milliseconds.', 10_000),
  },
  details: [
    'Faults, and their fields:',
    ...describeFaults('callback'),
    '',
    'With a fault, of the record only --reference and --status can be given. With drop the callback arrives with the retry; with reorder an older change, to pending, follows the given one.',
    '',
    'It succeeds when the endpoint accepted with 2xx what verifies, and refused with 4xx what does not; otherwise it fails. Of copies sent at once, all but one may be answered with 503.',
  ],
  examples: [
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --reference order-1',
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --fault wrong-secret',
    'merchant-payments callback send http://127.0.0.1:3000/callbacks --fault duplicate --set mode=at-once --set copies=4',
  ],
  async run(call) {
    const { options, terminal, words } = call;
    const { times, timeout: timeoutMs } = options;
    const url = parseHttpUrl('<callback-url>', words[0] ?? '');
    const fault = readCallbackFault(options) as CallbackFault | undefined;
    const input = await readCallbackInput(call);
    const { sendCallbacks } = await import('../sending.js');
    const sent = await sendCallbacks({ url, input, fault, times, timeoutMs });
    const { describeFailure, describeSent, judgeAnswers, toJsonSent } = await import(
      '../judgement.js'
    );
    const judged = judgeAnswers(sent, {
      signingSecret: input.signingSecret,
      areCopiesAtOnce: fault?.type === 'duplicate' && fault.mode === 'at-once',
    });
    const failure = describeFailure(judged);
    const paint = createPaint(terminal.stdout);
    if (options.json) {
      printJson(terminal, { isAsExpected: failure === undefined, sent: judged.map(toJsonSent) });
    } else {
      for (const line of judged.flatMap((one) => describeSent(one, paint)))
        printLine(terminal, line);
    }
    // One line, on stderr as every failure: the callbacks went out, the endpoint is what failed.
    if (failure !== undefined) throw new Error(failure);
    if (!options.json) printLine(terminal, 'the endpoint answered as expected');
    return undefined;
  },
});
