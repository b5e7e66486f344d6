import type { ControlFaults } from 'merchant-payments/mock-server';
import { requirePositionals } from '../arguments.js';
import type { Command } from '../command.js';
import { connectToMock, mockUrlOption } from '../control/client.js';
import { printFaults } from '../fault-text.js';

export const command: Command = {
  name: 'fault list',
  summary: 'Lists the faults of the running mock that are not used up, oldest first.',
  options: { 'mock-url': mockUrlOption },
  examples: ['merchant-payments fault list'],
  async run(given, terminal) {
    requirePositionals(given);
    const faults = await connectToMock(given, terminal).call<ControlFaults>({
      method: 'GET',
      path: ['faults'],
    });
    printFaults(faults, given, terminal);
    return 0;
  },
};
