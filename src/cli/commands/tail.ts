import { defineCommand } from '../command.js';
import { connectToMock, mockUrlOption } from '../control-client.js';
import { MockLog } from '../mock-log.js';
import { createPaint, plainJson, printLine, printNote } from '../output.js';
import { untilStopped } from '../process-signals.js';

export const tail = defineCommand({
  name: 'tail',
  summary: 'Prints what happens in the running mock, until Ctrl-C or the end of the mock.',
  options: { 'mock-url': mockUrlOption },
  details: ['With --json each line is an event, as those of mock --json.'],
  examples: ['merchant-payments tail', 'merchant-payments tail --json'],
  async run(call) {
    const { options, terminal } = call;
    const client = connectToMock(call);
    const leave = new AbortController();
    const { stopped, release } = untilStopped(process, terminal.stdout);
    void stopped.then(() => leave.abort());
    const log = new MockLog(createPaint(terminal.stdout));
    try {
      const events = await client.openEvents(leave.signal);
      printNote(terminal, `watching ${client.base}; Ctrl-C ends it`);
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
