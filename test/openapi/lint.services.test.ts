import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { version } from '../../src/protocol/version.js';
import { DOCUMENT_PATH, document } from './document.js';

/** What Redocly's recommended rules find. */
async function findProblems(source: string): Promise<string[]> {
  const problems = await lintFromString({
    source,
    absoluteRef: path.resolve(DOCUMENT_PATH),
    config: await createConfig({ extends: ['recommended'] }),
  });
  return problems.map(
    ({ severity, ruleId, message, location: [place] }) =>
      `${severity} ${ruleId} at ${place?.pointer}: ${message}`,
  );
}

test('Redocly’s recommended rules find no error and no warning, without an exception', async () => {
  expect(await findProblems(readFileSync(DOCUMENT_PATH, 'utf8'))).toEqual([]);
});

test('its version is that of the package', () => {
  expect(document.info.version).toBe(version);
});
