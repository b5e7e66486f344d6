import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Returns the browser for the tests, from CHROMIUM_PATH or the PATH; undefined when there is none. */
export function findChromium(): string | undefined {
  const given = process.env['CHROMIUM_PATH'];
  if (given) {
    if (isExecutable(given)) return given;
    throw new Error(`CHROMIUM_PATH must be the path of a browser, but ${given} can't be executed`);
  }
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(
    isExecutable,
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
