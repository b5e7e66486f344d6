import type {
  ControlAttemptPage,
  ControlRequest,
  ControlRequestPage,
  ControlState,
} from '../../mock-server/control/control-types.js';
import { plainJson, plainText } from '../../protocol/plain-text.js';
import { defineCommand } from '../command.js';
import { CALLBACK_TIMEOUT_MS, connectToMock, mockUrlOption } from '../control-client.js';
import { describeAnswer } from '../delivery-text.js';
import { type Column, timeOfDay } from '../layout.js';
import { MockLog, referenceIn } from '../mock-log.js';
import { formatDuration, parseDuration } from '../option-values.js';
import { countOf, createPaint, printLine, printNote } from '../output.js';
import { untilStopped } from '../process-signals.js';
import { limitOption, showPage } from '../shared-options.js';

/** A century. */
const LONGEST_ADVANCE_MS = 36_525 * 86_400_000;
/** The most that the mock lists at a time. */
const MOST_ATTEMPTS = 1_000;
const SHOWN_ATTEMPTS = 20;

export const advance = defineCommand({
  name: 'clock advance',
  summary: 'Moves the clock of the running mock ahead, so that retries and delays fall due.',
  positionals: ['duration'],
  options: { 'mock-url': mockUrlOption },
  details: [
    'A duration is a number with its unit: 500ms, 90s, 10m, 1h, 2d. The command ends when every retry that fell due has been answered. Callbacks are still signed with the real time.',
  ],
  examples: ['merchant-payments clock advance 1h', 'merchant-payments clock advance 90s --json'],
  async run(call) {
    const ms = parseDuration('<duration>', call.words[0] ?? '', LONGEST_ADVANCE_MS);
    const client = connectToMock(call);
    const listAttempts = async (limit: number) =>
      client.call<ControlAttemptPage>({ path: ['deliveries'], query: { limit } });
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
    const line = `the mock's clock moved ahead by ${formatDuration(ms)}, to ${plainText(state.now)}`;
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

export const reset = defineCommand({
  name: 'reset',
  summary: 'Clears everything in the running mock except its settings.',
  options: { 'mock-url': mockUrlOption },
  details: ['Identifiers start over.'],
  examples: ['merchant-payments reset'],
  async run(call) {
    const client = connectToMock(call);
    const { counts } = await client.call<ControlState>({ path: ['state'] });
    const state = await client.call<ControlState>({ method: 'POST', path: ['reset'], body: {} });
    const removed = [
      countOf(counts.payments, 'payment'),
      countOf(counts.requests, 'request'),
      countOf(counts.deliveries, 'attempt'),
      countOf(counts.faults, 'fault'),
    ];
    return { json: state, lines: () => [`the mock was reset: ${removed.join(', ')} removed`] };
  },
});

const columns: readonly Column<ControlRequest>[] = [
  { title: 'TIME', text: ({ at }) => at, short: ({ at }) => timeOfDay(at) },
  { title: 'METHOD', text: ({ method }) => method },
  { title: 'PATH', text: ({ path }) => path },
  { title: 'MERCHANT REFERENCE', text: ({ body }) => referenceIn(body) ?? '' },
  {
    title: 'HTTP',
    text: ({ status, ended }) => String(status ?? (ended ? 'broken' : 'waiting')),
    style: ({ status }) => (status !== undefined && status < 400 ? 'green' : 'red'),
  },
  { title: 'FAULT', text: ({ fault }) => fault ?? '', style: () => 'yellow' },
  { title: 'REQUEST ID', text: ({ requestId }) => requestId },
];

export const listRequests = defineCommand({
  name: 'requests list',
  summary: 'Lists the requests that the running mock received, newest first.',
  options: { limit: limitOption, 'mock-url': mockUrlOption },
  examples: ['merchant-payments requests list', 'merchant-payments requests list --limit 1 --json'],
  async run(call) {
    const page = await connectToMock(call).call<ControlRequestPage>({
      path: ['requests'],
      query: { limit: call.options.limit },
    });
    return showPage(page, page.requests, { columns, none: 'no requests received yet' });
  },
});

export const tail = defineCommand({
  name: 'tail',
  summary: 'Prints the events of the running mock, until Ctrl-C or the end of the mock.',
  options: { 'mock-url': mockUrlOption },
  details: ['With --json, each line is an event as mock --json prints it.'],
  examples: ['merchant-payments tail', 'merchant-payments tail --json'],
  async run(call) {
    const { options, terminal } = call;
    const client = connectToMock(call);
    const leave = new AbortController();
    const { stopped, release } = untilStopped(terminal.signals, terminal.stdout);
    void stopped.then(() => leave.abort());
    const log = new MockLog(createPaint(terminal.stdout, terminal.env));
    try {
      const events = await client.openEvents(leave.signal);
      printNote(terminal, `watching ${client.base}; press Ctrl-C to stop`);
      for await (const event of events) {
        const line = options.json ? plainJson(event) : log.describe(event);
        if (line !== undefined) printLine(terminal, line);
      }
    } catch (error) {
      if (!leave.signal.aborted) throw error;
    } finally {
      release();
    }
    return undefined;
  },
});
