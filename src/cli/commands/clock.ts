import type { ControlAttemptPage, ControlState } from '../../mock-server/control/control-types.js';
import { defineCommand } from '../command.js';
import { CALLBACK_TIMEOUT_MS, connectToMock, mockUrlOption } from '../control-client.js';
import { describeAnswer } from '../delivery-text.js';
import { formatDuration, parseDuration } from '../option-values.js';
import { countOf, plainText } from '../output.js';

/** A century. */
const LONGEST_ADVANCE_MS = 36_525 * 86_400_000;
/** What the mock lists at a time. */
const MOST_ATTEMPTS = 1_000;
const SHOWN_ATTEMPTS = 20;

export const advance = defineCommand({
  name: 'clock advance',
  summary: 'Moves the clock of the running mock ahead, and with it retries and delays.',
  positionals: ['duration'],
  options: { 'mock-url': mockUrlOption },
  details: [
    'A duration is a number with its unit: 500ms, 90s, 10m, 1h, 2d. It ends when every retry that fell due has been answered. Callbacks are signed with the real time all the same.',
  ],
  examples: ['merchant-payments clock advance 1h', 'merchant-payments clock advance 90s --json'],
  async run(call) {
    const ms = parseDuration('<duration>', call.words[0] ?? '', LONGEST_ADVANCE_MS);
    const client = connectToMock(call);
    const listAttempts = async (limit: number) =>
      client.call<ControlAttemptPage>({ method: 'GET', path: ['deliveries'], query: { limit } });
    const [last] = (await listAttempts(1)).attempts;
    const state = await client.call<ControlState>({
      method: 'POST',
      path: ['clock', 'advance'],
      body: { ms },
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
    const { attempts } = await listAttempts(MOST_ATTEMPTS);
    const end = attempts.findIndex(({ id }) => id === last?.id);
    const sent = (end < 0 ? attempts : attempts.slice(0, end)).toReversed();
    const isMore = end < 0 && attempts.length === MOST_ATTEMPTS;
    const line = `the mock's clock was moved ahead by ${formatDuration(ms)}: ${plainText(state.now)}`;
    return {
      json: { ...state, attempts: sent },
      lines: ({ paint }) => [
        line,
        `${isMore ? 'more than ' : ''}${countOf(sent.length, 'callback')} sent`,
        ...sent
          .slice(0, SHOWN_ATTEMPTS)
          .map(
            (attempt) =>
              `  ${plainText(attempt.merchantPaymentReference)} ${plainText(attempt.status)}, attempt ${attempt.attempt}: ${describeAnswer(attempt, paint)}`,
          ),
      ],
    };
  },
});
