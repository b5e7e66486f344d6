import { readText, requirePositionals } from '../arguments.js';
import { type Arguments, type Command, type Terminal, UsageError } from '../command.js';
import { parseHttpUrl, parseOneOf } from '../option-values.js';
import { callbackOptions, readCallbackInput } from '../outgoing/callback-options.js';
import {
  type CallbackRequest,
  isShowable,
  toCurlCommand,
  toHttpMessage,
  toJsonCapture,
} from '../outgoing/callback-request.js';
import { printJson, wantsJson } from '../output.js';

const DEFAULT_URL = 'http://127.0.0.1:3000/callbacks/payments';

export const command: Command = {
  name: 'callback sign',
  summary: 'Makes a signed callback and prints it, as a curl command, an HTTP message or JSON.',
  options: {
    ...callbackOptions,
    url: { type: 'string', value: 'url', help: `Where it is to go. Default: ${DEFAULT_URL}` },
    output: {
      type: 'string',
      value: 'curl|http|json',
      help: 'What is printed. Default: curl; --json is the same as --output json',
    },
  },
  details: [
    'A record has sample values where no field is given. JSON holds the body as rawBody, where it is',
    'text, and always as rawBodyBase64. callback verify reads HTTP messages and JSON.',
  ],
  examples: [
    'merchant-payments callback sign --reference order-1 --status paid',
    'merchant-payments callback sign --field amount=12.5 --output json',
    'merchant-payments callback sign --body-file body.json --timestamp 1769860800 --output http',
  ],
  async run(given, terminal) {
    requirePositionals(given);
    const output = readOutput(given);
    const url = parseHttpUrl('--url', readText(given, 'url') ?? DEFAULT_URL);
    const input = await readCallbackInput(given, terminal);
    const { signInput } = await import('../outgoing/signing.js');
    const request: CallbackRequest = { url, ...signInput(input) };
    if (output === 'json') printJson(terminal, toJsonCapture(request));
    else {
      assertShowable(request, terminal);
      terminal.stdout.write(output === 'http' ? toHttpMessage(request) : toCurlCommand(request));
    }
    return 0;
  },
};

function readOutput(given: Arguments): 'curl' | 'http' | 'json' {
  const text = readText(given, 'output');
  const output = parseOneOf('--output', text ?? 'curl', ['curl', 'http', 'json']);
  if (!wantsJson(given)) return output;
  if (text !== undefined && output !== 'json') {
    throw new UsageError(`--json and --output ${output} contradict each other: give one of them`);
  }
  return 'json';
}

// To a file or another program go the bytes as they are.
function assertShowable({ rawBody }: CallbackRequest, { stdout }: Terminal): void {
  if (!stdout.isTTY || isShowable(rawBody)) return;
  throw new UsageError(
    'this body has characters that would drive the terminal: send the output to a file, or take --output json',
  );
}
