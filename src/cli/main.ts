#!/usr/bin/env node
import { runCommandLine } from './command-line.js';
import { plainText } from './output.js';

// A reader that left, as `| head` does, is not a failure: the command goes on, and what it still
// writes is lost. Commands that run until they are stopped listen for it themselves.
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `merchant-payments: writing the output failed with ${plainText(String(error.code))}\n`,
  );
  process.exit(1);
});

// A bug of this program, which a stack trace would not explain to its user.
process.once('uncaughtException', (error) => {
  process.stderr.write(`merchant-payments: ${plainText(String(error))}\n`);
  process.exit(1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), process);
