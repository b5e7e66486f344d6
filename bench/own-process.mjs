import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs a suite's file once more in a separate process, where `serveMeasurement` answers: what one
 * competitor teaches the optimizer must not help or harm the next.
 */
export function measureInOwnProcess(fileUrl, ...args) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(fileUrl), ['--measure', ...args]);
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code} and no figure`)));
  });
}

/** In a process that `measureInOwnProcess` started: measures, sends the figure, and is true. */
export async function serveMeasurement(measure) {
  const [flag, ...args] = process.argv.slice(2);
  if (flag !== '--measure') return false;
  const figure = await measure(...args);
  process.send(figure, () => process.exit());
  return true;
}
