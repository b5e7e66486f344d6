import { describe, expect, it } from 'vitest';
import { expectFound } from './expect-found.js';
import { check, SECRET, useManualClock } from './shop.js';
import { furtherFlaws, usualFlaws } from './wrong-handlers.js';

useManualClock();

const wrongHandlers = [...usualFlaws, ...furtherFlaws];

describe('finds a handler that', () => {
  it.each(furtherFlaws)('$flaw', expectFound);
});

it('has a wrong handler for every check that no other check precedes', async () => {
  const { checks } = await check('http://127.0.0.1:1', { signingSecret: SECRET });
  const found = new Set<string>(wrongHandlers.flatMap(({ fails }) => fails));
  expect(checks.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([
    'tampered-body', // wrong-secret
  ]);
});
