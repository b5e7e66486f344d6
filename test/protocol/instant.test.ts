import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../src/protocol/instant.js';

describe('parseInstant', () => {
  it('reads a fraction of a million digits, in one pass', () => {
    const zeros = '0'.repeat(1_000_000);
    const finer = `${zeros}1`;
    const at = (fraction: string) => `2026-01-31T12:00:05.000000${fraction}Z`;
    expect(parseInstant(at(finer)).finer).toBe(finer);
    expect(parseInstant(at(`${finer}${zeros}`)).finer).toBe(finer);
  });
});
