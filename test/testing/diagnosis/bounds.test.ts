import { describe, expect, test } from 'vitest';
import { listSignedStrings } from '../../../src/testing/diagnosis/signed-strings.js';
import type { CallbackDiagnosis } from '../../../src/testing/index.js';
import { COMPACT, codesOf, diagnose, expectExplained, hmac, sampleRecord } from './scene.js';

const MEGABYTE = 1024 * 1024;
const wrong = 'ab'.repeat(32);

/** A body of which there are more spellings than are tried. */
const rich = (filler = '') =>
  JSON.stringify({
    ...sampleRecord({ merchantPaymentReference: "é/<&='" }),
    zone: 1,
    area: 2,
    filler,
  });

function countTried({ findings }: CallbackDiagnosis, what: string): number {
  const tried = findings.find(({ code }) => code === 'unexplained')?.tried ?? [];
  return Number.parseInt(tried.find((line) => line.includes(what)) ?? '', 10);
}

describe('of the 64 MiB that are hashed at most', () => {
  test.each([
    ['text', 'k'.repeat(MEGABYTE)],
    ['bytes', Buffer.alloc(MEGABYTE, 7)],
  ])('a secret of 1 MiB takes its part each time: %s', (_name, signingSecret) => {
    const hmacs = countTried(
      diagnose({ rawBody: rich(), signature: wrong, options: { signingSecret } }),
      'HMACs',
    );
    expect(hmacs).toBe(63);
  });

  test('an X-Timestamp of 1 MiB takes its part each time', () => {
    const timestamps = ['1'.repeat(MEGABYTE), '2'.repeat(MEGABYTE)];
    const headers = { 'x-timestamp': timestamps, 'x-signature': wrong };
    const diagnosis = diagnose({ rawBody: rich(), headers });
    expect(countTried(diagnosis, 'signed strings')).toBe(3);
    expect(countTried(diagnosis, 'HMACs')).toBeLessThan(200);
  });

  test('an X-Timestamp of 1 KiB takes its part beside a body of 6 KiB', () => {
    const hmacsFor = (timestamp: string) =>
      countTried(
        diagnose({ rawBody: rich('x'.repeat(5900)), timestamp, signature: wrong }),
        'HMACs',
      );
    expect(hmacsFor('1'.repeat(10))).toBe(10_000);
    expect(hmacsFor('1'.repeat(1024))).toBeLessThan(9800);
  });

  test('no HMAC begins that would go beyond them', () => {
    const rawBody = Buffer.alloc(40 * MEGABYTE, 0x61);
    expect(countTried(diagnose({ rawBody, signature: wrong }), 'HMACs')).toBe(1);
  });

  test('what stands before and behind the body is counted in bytes', () => {
    const strings = listSignedStrings({ values: ['é2', '3'], isRepeated: false, similar: [] });
    expect(strings.some(({ after }) => after.includes('é'))).toBe(true);
    for (const { before, after, byteLength } of strings) {
      expect(byteLength).toBe(Buffer.from(before + after).byteLength);
    }
  });
});

test('signatures by three hashes are no reason for more than 10,000 HMACs', () => {
  const signature = `v0=${'ab'.repeat(20)},v1=${wrong},v2=${'ab'.repeat(48)}`;
  expect(countTried(diagnose({ rawBody: rich(), signature }), 'HMACs')).toBe(10_000);
});

describe('an X-Timestamp', () => {
  const signedWithColon = (timestamp: string) =>
    diagnose({ timestamp, signature: hmac(`${timestamp}:${COMPACT}`).toString('hex') });

  test('of 1 KiB is joined to the body in other ways', () => {
    const diagnosis = signedWithColon('1'.repeat(1024));
    expectExplained(diagnosis, 'timestamp-malformed', 'signed-other-separator');
  });

  test.each([
    ['1025 characters', '1'.repeat(1025)],
    ['513 characters of two bytes', 'é'.repeat(513)],
  ])('of %s is not', (_name, timestamp) => {
    expect(signedWithColon(timestamp).signature).toBe('unexplained');
  });

  test('of 1 MiB is tried as given, with what else was changed', () => {
    const timestamp = '1'.repeat(MEGABYTE);
    expect(diagnose({ timestamp }).signature).toBe('right');
    expect(codesOf(diagnose({ timestamp, rawBody: `${COMPACT}\n` }))).toEqual([
      'timestamp-malformed',
      'body-trailing-newline',
    ]);
  });
});
