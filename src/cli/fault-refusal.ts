import { UsageError } from './command.js';
import { ControlRefusal } from './control/client.js';

/**
 * The mock's refusal of a fault as an error of the command line, in its words: `fault.delayMs` is what
 * `--set delayMs=…` gives. A fault given as JSON keeps the names of its fields. Any other error stays
 * as it is.
 */
export function toFaultUsageError(error: unknown, isGivenByFlags: boolean): unknown {
  if (!(error instanceof ControlRefusal && error.code === 'INVALID_REQUEST')) return error;
  const { message } = error;
  return new UsageError(isGivenByFlags ? nameFlag(message) : `--fault-json: ${message}`);
}

// The message begins with the name; what the user gave may follow, and is left alone.
function nameFlag(message: string): string {
  return message
    .replace(/^fault\.times\b/, '--times')
    .replace(/^fault\.match\.(\w+)/, '--match $1=…')
    .replace(/^fault\.(\w+)/, '--set $1=…');
}
