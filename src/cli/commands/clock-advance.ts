import type { ControlState } from 'merchant-payments/mock-server';
import { requirePositionals } from '../arguments.js';
import type { Command } from '../command.js';
import { CALLBACK_TIMEOUT_MS, connectToMock, mockUrlOption } from '../control/client.js';
import { formatDuration, parseDuration } from '../option-values.js';
import { printJson, printLine, wantsJson } from '../output.js';
import { plainText } from '../plain-text.js';

/** A century. */
const LONGEST_ADVANCE_MS = 36_525 * 86_400_000;

export const command: Command = {
  name: 'clock advance',
  summary: 'Moves the clock of the running mock ahead, and with it retries and delays.',
  positionals: '<duration>',
  options: { 'mock-url': mockUrlOption },
  details: [
    'A duration is a number with its unit: 500ms, 90s, 10m, 1h, 2d. It ends when every retry that',
    'fell due has been answered. Callbacks are signed with the real time all the same.',
  ],
  examples: ['merchant-payments clock advance 1h', 'merchant-payments clock advance 90s --json'],
  async run(given, terminal) {
    const [text] = requirePositionals(given, 'duration') as [string];
    const ms = parseDuration('<duration>', text, LONGEST_ADVANCE_MS);
    const state = await connectToMock(given, terminal).call<ControlState>({
      method: 'POST',
      path: ['clock', 'advance'],
      body: { ms },
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
    if (wantsJson(given)) {
      printJson(terminal, state);
      return 0;
    }
    printLine(
      terminal,
      `the mock's clock is ${formatDuration(ms)} further: ${plainText(state.now)}`,
    );
    return 0;
  },
};
