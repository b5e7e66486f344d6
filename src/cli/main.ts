#!/usr/bin/env node
import { plainText } from '../protocol/plain-text.js';
import { runCommandLine } from './command-line.js';
import { terminalOf } from './terminal.js';

// A reader that closes the pipe, as `| head` does, is not a failure: the command finishes, and the rest
// of its output is dropped. Commands that run until Ctrl-C handle this event themselves.
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `merchant-payments: writing the output failed with ${plainText(String(error.code))}\n`,
  );
  process.exit(1);
});

// A bug in this program: a stack trace would not help the user.
process.once('uncaughtException', (error) => {
  process.stderr.write(`merchant-payments: ${plainText(String(error))}\n`);
  process.exit(1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), terminalOf(process));
