import { type Call, defineCommand, parsed, UsageError, withDefault } from '../command.js';
import { parseHttpUrl, parseOneOf } from '../option-values.js';
import {
  callbackOptions,
  isPrintable,
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
    parsed(
      { value: 'url', help: `The URL of the endpoint. Default: ${DEFAULT_URL}` },
      parseHttpUrl,
    ),
    new URL(DEFAULT_URL),
  ),
  output: parsed(
    {
      value: 'curl|http|json',
      help: 'The output format; --json is the same as --output json. Default: curl',
    },
    (name, given) => parseOneOf(name, given, ['curl', 'http', 'json']),
  ),
};

export const sign = defineCommand({
  name: 'callback sign',
  summary: 'Prints a signed callback as a curl command, an HTTP message or JSON.',
  options,
  details: [
    'Fields of the record that are not given have sample values. JSON has the body as rawBodyBase64, and as rawBody if it is text. callback verify reads HTTP messages and JSON.',
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
    // A file or another program gets the exact bytes.
    if (terminal.stdout.isTTY && !isPrintable(request.rawBody)) {
      throw new UsageError(
        'the body has control characters, which would control the terminal: write the output to a file, or use --output json',
      );
    }
    terminal.stdout.write(output === 'http' ? toHttpMessage(request) : toCurlCommand(request));
    return undefined;
  },
});

function readOutput({ json, output }: Call<typeof options>['options']): 'curl' | 'http' | 'json' {
  if (!json) return output ?? 'curl';
  if (output === undefined || output === 'json') return 'json';
  throw new UsageError(`--json and --output ${output} conflict: give one of them`);
}
