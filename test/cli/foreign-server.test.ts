import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from './run-command.js';

const answers = [
  '{}',
  '{"payments":[{}],"attempts":[{}],"requests":[{}],"faults":[{}],"counts":{}}',
];
const commands = [
  ['payments', 'list'],
  ['payments', 'show', 'order-1'],
  ['payments', 'set-status', 'order-1', 'paid'],
  ['deliveries', 'list'],
  ['deliveries', 'resend', 'x'],
  ['requests', 'list'],
  ['fault', 'list'],
  ['fault', 'add', 'callback', 'drop'],
  ['fault', 'clear'],
  ['clock', 'advance', '1h'],
  ['reset'],
];

test.each(commands.flatMap((command) => answers.map((answer) => [command.join(' '), answer])))(
  '%s at a server that answers %s says that it is not the mock',
  async (command, answer) => {
    const server = createServer((_request, response) => response.end(answer));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stdout, stderr } = await runCommand([...command.split(' '), '--mock-url', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      `merchant-payments: the server at ${url} is not the mock of merchant-payments (HTTP 200)`,
    );
  },
);
