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
    ...callbackFaultOptions('The fault of the callback, one of those below. Default: none'),
    times: withDefault(
      wholeNumber(
        {
          value: 'n',
          help: `How many callbacks to send, one after the other, each for another payment: 1 to ${MAX_TIMES}. Default: 1`,
        },
        { min: 1, max: MAX_TIMES },
      ),
      1,
    ),
    timeout: timeoutOption(10_000),
  },
  details: [
    'Faults and their fields:',
    ...describeFaults('callback'),
    '',
    'With a fault, only --reference and --status of the record can be given. With drop, the callback arrives with the retry; with reorder, an older change to pending follows the given one.',
    '',
    'Succeeds if the endpoint answers 2xx to each valid callback and 4xx to each invalid one. Of copies sent at once, all but one may be answered 503.',
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
    const paint = createPaint(terminal.stdout, terminal.env);
    if (options.json) {
      printJson(terminal, { isAsExpected: failure === undefined, sent: judged.map(toJsonSent) });
    } else {
      for (const line of judged.flatMap((one) => describeSent(one, paint)))
        printLine(terminal, line);
    }
    // On stderr, like every failure. The callbacks were sent; the endpoint failed.
    if (failure !== undefined) throw new Error(failure);
    if (!options.json) printLine(terminal, 'the endpoint answered as expected');
    return undefined;
  },
});
