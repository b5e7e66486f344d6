import type { ControlFaults } from 'merchant-payments/mock-server';
import { requirePositionals } from '../arguments.js';
import type { Command } from '../command.js';
import { connectToMock, mockUrlOption } from '../control/client.js';
import { printFaults } from '../fault-text.js';

export const command: Command = {
  name: 'fault clear',
  summary: 'Takes every fault of the running mock away.',
  options: { 'mock-url': mockUrlOption },
  examples: ['merchant-payments fault clear'],
  async run(given, terminal) {
    requirePositionals(given);
    const faults = await connectToMock(given, terminal).call<ControlFaults>({
      method: 'DELETE',
      path: ['faults'],
    });
    printFaults(faults, given, terminal);
    return 0;
  },
};
