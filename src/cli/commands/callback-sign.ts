import { type Call, defineCommand, parsed, UsageError, withDefault } from '../command.js';
import { parseHttpUrl, parseOneOf } from '../option-values.js';
import {
  callbackOptions,
  isShowable,
  readCallbackInput,
  signInput,
  toCurlCommand,
  toHttpMessage,
  toJsonCapture,
} from '../outgoing.js';
import { printJson } from '../output.js';

const DEFAULT_URL = 'http://127.0.0.1:3000/callbacks/payments';

const options = {
  ...callbackOptions,
  url: withDefault(
    parsed({ value: 'url', help: `Where it is to go. Default: ${DEFAULT_URL}` }, parseHttpUrl),
    new URL(DEFAULT_URL),
  ),
  output: parsed(
    {
      value: 'curl|http|json',
      help: 'What is printed. Default: curl; --json is the same as --output json',
    },
    (name, given) => parseOneOf(name, given, ['curl', 'http', 'json']),
  ),
};

export const sign = defineCommand({
  name: 'callback sign',
  summary: 'Makes a signed callback and prints it, as a curl command, an HTTP message or JSON.',
  options,
  details: [
    'A record has sample values where no field is given. JSON holds the body as rawBody, where it is text, and always as rawBodyBase64. callback verify reads HTTP messages and JSON.',
  ],
  examples: [
    'merchant-payments callback sign --reference order-1 --status paid',
    'merchant-payments callback sign --field amount=12.5 --output json',
    'merchant-payments callback sign --body-file body.json --timestamp 1769860800 --output http',
  ],
  async run(call) {
    const { terminal } = call;
    const output = readOutput(call.options);
    const { url } = call.options;
    const request = { url, ...(await signInput(await readCallbackInput(call))) };
    if (output === 'json') {
      printJson(terminal, toJsonCapture(request));
      return undefined;
    }
    // To a file or another program go the bytes as they are.
    if (terminal.stdout.isTTY && !isShowable(request.rawBody)) {
      throw new UsageError(
        'this body has characters that would drive the terminal: send the output to a file, or use --output json',
      );
    }
    terminal.stdout.write(output === 'http' ? toHttpMessage(request) : toCurlCommand(request));
    return undefined;
  },
});

function readOutput({ json, output }: Call<typeof options>['options']): 'curl' | 'http' | 'json' {
  if (!json) return output ?? 'curl';
  if (output === undefined || output === 'json') return 'json';
  throw new UsageError(`--json and --output ${output} contradict each other: give one of them`);
}
