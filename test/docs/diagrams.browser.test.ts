import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const { diagrams, draw } = (await import(path.resolve('scripts/docs/diagrams.mjs'))) as {
  diagrams: string[];
  draw: (name: string) => string;
};

describe('the diagrams of the guides', () => {
  test.each(diagrams)('%s.svg is what its source says; draw it by: npm run docs', (name) => {
    expect(readFileSync(`docs/images/${name}.svg`, 'utf8')).toBe(draw(name));
  });
});
