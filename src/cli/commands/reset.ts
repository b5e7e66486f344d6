import type { ControlState } from '../../mock-server/control/control-types.js';
import { defineCommand } from '../command.js';
import { connectToMock, mockUrlOption } from '../control-client.js';
import { countOf } from '../output.js';

export const reset = defineCommand({
  name: 'reset',
  summary: 'Has the running mock forget everything but its settings.',
  options: { 'mock-url': mockUrlOption },
  details: ['Identifiers begin again as at its start.'],
  examples: ['merchant-payments reset'],
  async run(call) {
    const client = connectToMock(call);
    const { counts } = await client.call<ControlState>({ method: 'GET', path: ['state'] });
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
