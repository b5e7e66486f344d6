import { expect, it } from 'vitest';
import { CallbackVerificationError } from '../../src/errors.js';
import { assertBodySize, bodyWasRead, UnreadableBody } from '../../src/receiver/body.js';

it.each([
  ['', 0],
  ['abc', 3],
  ['\u007f', 1],
  ['\u0080', 2],
  ['\u07ff', 2],
  ['\u0800', 3],
  ['\ud7ff\ue000\uffff', 9],
  ['a€🧾', 8],
  ['\u{10ffff}', 4],
])('counts the bytes that %j has in UTF-8', (text, bytes) => {
  expect(Buffer.byteLength(text)).toBe(bytes);
  expect(() => assertBodySize(text, { maxBodyBytes: bytes })).not.toThrow();
  if (bytes > 0)
    expect(() => assertBodySize(text, { maxBodyBytes: bytes - 1 })).toThrow(UnreadableBody);
});

it.each([
  ['Buffer', Buffer.alloc(11)],
  ['Uint8Array', new Uint8Array(11)],
  ['string', 'x'.repeat(11)],
])('refuses a %s of 11 bytes under a limit of 10 with 413', (_name, rawBody) => {
  expect(() => assertBodySize(rawBody, { maxBodyBytes: 11 })).not.toThrow();
  expect(() => assertBodySize(rawBody, { maxBodyBytes: 10 })).toThrow(UnreadableBody);
  try {
    assertBodySize(rawBody, { maxBodyBytes: 10 });
  } catch (error) {
    expect(error).toMatchObject({ status: 413 });
  }
});

it('says what happened to a body that was read too early, and the remedy', () => {
  const error = bodyWasRead('Read it later');
  expect(error).toBeInstanceOf(CallbackVerificationError);
  expect(error.code).toBe('RAW_BODY_REQUIRED');
  expect(error.message).toBe(
    'The body was read or decoded before the callback handler, so the bytes that were signed are gone. Read it later',
  );
});

it.each([
  [
    413,
    'BODY_TOO_LARGE',
    'The body has more than 10 bytes (maxBodyBytes), so it was not verified; raise the limit if the service sends such callbacks',
  ],
  [
    408,
    'BODY_INCOMPLETE',
    'The body did not arrive within 10000 ms, so it was not verified; if this repeats, check the proxy in front of the endpoint',
  ],
  [
    400,
    'BODY_INCOMPLETE',
    'The body broke off before its end, so it was not verified; if this repeats, check the proxy in front of the endpoint',
  ],
] as const)('is explained when it was answered %i', (status, code, message) => {
  const limits = { maxBodyBytes: 10 };
  expect(new UnreadableBody(status, limits)).toMatchObject({ status, code, message });
});
