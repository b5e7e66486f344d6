import type {
  ControlRequest,
  ControlRequestPage,
} from '../../mock-server/control/control-types.js';
import { defineCommand } from '../command.js';
import { connectToMock, mockUrlOption } from '../control-client.js';
import { type Column, formatTable, timeOfDay } from '../layout.js';
import { referenceIn } from '../mock-log.js';
import { limitOption } from '../shared-options.js';

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

export const list = defineCommand({
  name: 'requests list',
  summary: 'Lists the requests that the running mock received, newest first.',
  options: { limit: limitOption, 'mock-url': mockUrlOption },
  examples: ['merchant-payments requests list', 'merchant-payments requests list --limit 1 --json'],
  async run(call) {
    const page = await connectToMock(call).call<ControlRequestPage>({
      method: 'GET',
      path: ['requests'],
      query: { limit: call.options.limit },
    });
    const { requests, total } = page;
    if (requests.length === 0) return { json: page, note: 'No request was received yet.' };
    return {
      json: page,
      lines: (layout) => formatTable(columns, requests, layout),
      note: total > requests.length ? `${requests.length} of ${total} are shown.` : undefined,
    };
  },
});
