import type { ControlDelivery } from 'merchant-payments/mock-server';
import { readList, readText, requirePositionals } from '../arguments.js';
import { type Command, UsageError } from '../command.js';
import {
  CALLBACK_TIMEOUT_MS,
  type ControlClient,
  ControlRefusal,
  connectToMock,
  mockUrlOption,
} from '../control/client.js';
import { findPayment } from '../control/payment-reference.js';
import { printDelivery } from '../delivery-text.js';
import { readFaultType } from '../fault-arguments.js';
import { describeFaults } from '../fault-catalogue.js';
import { toFaultUsageError } from '../fault-refusal.js';
import { printJson, wantsJson } from '../output.js';

export const command: Command = {
  name: 'deliveries resend',
  summary: 'Has the running mock send a callback once more.',
  positionals: '<id|payment>',
  options: {
    fault: {
      type: 'string',
      value: 'type',
      help: 'What goes wrong with its first attempt, whatever faults are pending.',
    },
    set: {
      type: 'string',
      multiple: true,
      value: 'field=value',
      help: 'A field of that fault.',
    },
    'mock-url': mockUrlOption,
  },
  details: [
    'With the id of a delivery or of an attempt: the callback of that very change; an older change',
    'stays older. With a payment, given as for payments set-status: that of its present status.',
    '',
    'Types of fault, and their fields:',
    ...describeFaults('callback'),
  ],
  examples: [
    'merchant-payments deliveries resend order-1',
    'merchant-payments deliveries resend order-1 --fault stale-timestamp --set bySeconds=3600',
  ],
  async run(given, terminal) {
    const [word] = requirePositionals(given, 'id|payment') as [string];
    const type = readText(given, 'fault');
    const set = readList(given, 'set');
    if (type === undefined && set.length > 0) {
      throw new UsageError('--set is for the fields of a fault: give --fault <type> too');
    }
    const body = type === undefined ? {} : { fault: readFaultType('callback', type, set) };
    const delivery = await resend(connectToMock(given, terminal), word, body).catch(
      (error: unknown) => {
        throw type === undefined ? error : toFaultUsageError(error, true);
      },
    );
    if (wantsJson(given)) printJson(terminal, delivery);
    else printDelivery(delivery, terminal);
    return 0;
  },
};

async function resend(client: ControlClient, word: string, body: object): Promise<ControlDelivery> {
  const post = (...path: readonly string[]) =>
    client.call<ControlDelivery>({
      method: 'POST',
      path: [...path, 'resend'],
      body,
      timeoutMs: CALLBACK_TIMEOUT_MS,
    });
  try {
    return await post('deliveries', word);
  } catch (error) {
    if (!(error instanceof ControlRefusal && error.code === 'NOT_FOUND')) throw error;
  }
  const { referenceNumber } = await findPayment(client, word);
  return post('payments', referenceNumber);
}
