import type { ControlState } from '../../mock-server/control/control-types.js';
import { defineCommand } from '../command.js';
import { CALLBACK_TIMEOUT_MS, connectToMock, mockUrlOption } from '../control-client.js';
import { formatDuration, parseDuration } from '../option-values.js';
import { plainText } from '../output.js';

/** A century. */
const LONGEST_ADVANCE_MS = 36_525 * 86_400_000;

export const advance = defineCommand({
  name: 'clock advance',
  summary: 'Moves the clock of the running mock ahead, and with it retries and delays.',
  positionals: ['duration'],
  options: { 'mock-url': mockUrlOption },
  details: [
    'A duration is a number with its unit: 500ms, 90s, 10m, 1h, 2d. It ends when every retry that',
    'fell due has been answered. Callbacks are signed with the real time all the same.',
  ],
  examples: ['merchant-payments clock advance 1h', 'merchant-payments clock advance 90s --json'],
  async run(call) {
    const ms = parseDuration('<duration>', call.words[0] ?? '', LONGEST_ADVANCE_MS);
    const state = await connectToMock(call).call<ControlState>({
      method: 'POST',
      path: ['clock', 'advance'],
      body: { ms },
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
    const line = `the mock's clock was moved ahead by ${formatDuration(ms)}: ${plainText(state.now)}`;
    return { json: state, lines: () => [line] };
  },
});
