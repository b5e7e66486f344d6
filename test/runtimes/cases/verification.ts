import vectors from '../../vectors/signatures.json' with { type: 'json' };
import { equal, failsWith, isTrue } from './assert.js';
import type { Case } from './case.js';
import { bytesOf, NOW_SECONDS, recordText, SECRET, sign } from './signed-callback.js';

interface Verified {
  readonly payment: { readonly merchantPaymentReference: string };
  readonly key: string;
  readonly timestamp: Date;
  readonly secretIndex: number;
}

/** A verifier, synchronous or not. */
export interface Implementation {
  verifyCallback(request: never, options: never): Verified | Promise<Verified>;
  createCallbackVerifier(options: never): (request: never) => Verified | Promise<Verified>;
  callbackKey(payment: never): string | Promise<string>;
  readonly CallbackVerificationError: unknown;
}

const now = () => NOW_SECONDS * 1000;
const encodings = ['hex', 'base64', 'base64url'] as const;

/** What both verifiers promise, wherever they run. */
export function verificationCases(implementation: Implementation): readonly Case[] {
  const verify = async (request: object, options: object = {}): Promise<Verified> =>
    implementation.verifyCallback(
      request as never,
      { signingSecret: SECRET, now, ...options } as never,
    );

  return [
    ...vectors.map((vector) => vectorCase(vector, verify)),
    {
      name: 'gives the record, its key, the time and which secret it was',
      async run() {
        const { payment, key, timestamp, secretIndex } = await verify(await sign());
        equal(payment, JSON.parse(recordText()));
        equal(key, await implementation.callbackKey(payment as never));
        equal(key, '5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90.paid.1769860805000000');
        equal(timestamp.getTime(), NOW_SECONDS * 1000);
        equal(secretIndex, 0);
      },
    },
    {
      name: 'takes the body as text, bytes, a part of a buffer and an ArrayBuffer',
      async run() {
        const { rawBody, headers } = await sign();
        const padded = new Uint8Array(rawBody.length + 9);
        padded.set(rawBody, 4);
        const bodies = [
          recordText(),
          rawBody,
          padded.subarray(4, 4 + rawBody.length),
          rawBody.buffer,
        ];
        for (const body of bodies) await verify({ rawBody: body, headers });
      },
    },
    {
      name: 'takes headers as an object, as Headers and as pairs, in any case',
      async run() {
        const { rawBody, headers } = await sign();
        const upper = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
        for (const form of [headers, new Headers(headers), upper, Object.fromEntries(upper)]) {
          await verify({ rawBody, headers: form });
        }
      },
    },
    ...[
      { skew: 300, code: undefined },
      { skew: 301, code: 'TIMESTAMP_OUTSIDE_WINDOW' },
      { skew: -301, code: 'TIMESTAMP_OUTSIDE_WINDOW' },
    ].map(({ skew, code }) => ({
      name: `${code === undefined ? 'accepts' : 'refuses'} a timestamp ${skew} s old`,
      async run() {
        const callback = await sign(recordText(), { timestamp: String(NOW_SECONDS - skew) });
        if (code === undefined) await verify(callback);
        else equal((await failsWith(() => verify(callback), code))['skewSeconds'], skew);
      },
    })),
    {
      name: 'refuses every change of the body, the timestamp and the signature',
      async run() {
        const { rawBody, headers } = await sign();
        for (let index = 0; index < rawBody.length; index += 16) {
          const changed = Uint8Array.from(rawBody);
          changed[index] = (rawBody[index] ?? 0) ^ 1;
          await failsWith(() => verify({ rawBody: changed, headers }), 'SIGNATURE_MISMATCH');
        }
        const later = { ...headers, 'x-timestamp': String(NOW_SECONDS + 1) };
        await failsWith(() => verify({ rawBody, headers: later }), 'SIGNATURE_MISMATCH');
        const signature = headers['x-signature'] ?? '';
        for (let index = 0; index < 64; index += 1) {
          const digit = signature[index] === '0' ? '1' : '0';
          const forged = signature.slice(0, index) + digit + signature.slice(index + 1);
          const request = { rawBody, headers: { ...headers, 'x-signature': forged } };
          await failsWith(() => verify(request), 'SIGNATURE_MISMATCH');
        }
      },
    },
    {
      name: 'refuses with an error of its class',
      async run() {
        const callback = await sign();
        const known = implementation.CallbackVerificationError as new () => Error;
        for (const [headers, code] of [
          [{ 'x-timestamp': undefined }, 'MISSING_TIMESTAMP'],
          [{ 'x-timestamp': `${NOW_SECONDS}000` }, 'INVALID_TIMESTAMP'],
          [{ 'x-signature': 'é'.repeat(64) }, 'INVALID_SIGNATURE'],
        ] as const) {
          const request = { ...callback, headers: { ...callback.headers, ...headers } };
          const error = await failsWith(() => verify(request), code);
          isTrue(error instanceof known, 'an instance of CallbackVerificationError');
        }
      },
    },
    {
      name: 'refuses what is signed and not a record: INVALID_RECORD',
      async run() {
        for (const body of ['', '{', '[]', '{}', recordText({ status: 7 }), '\uFEFF{}']) {
          const callback = await sign(body);
          await failsWith(() => verify(callback), 'INVALID_RECORD');
        }
      },
    },
  ];
}

type Vector = (typeof vectors)[number];

function vectorCase(
  vector: Vector,
  verify: (request: object, options: object) => Promise<Verified>,
): Case {
  return {
    name: `vector: ${vector.name}`,
    async run() {
      const options = optionsOf(vector);
      // The bodies that are records begin so, however they are spaced.
      const isRecord = /^7b(?:20|0a|09|0d)*22726566657265/.test(vector.bodyHex);
      for (const encoding of encodings) {
        for (const signatureEncoding of ['auto', encoding]) {
          const request = requestOf(vector, encoding);
          const run = () => verify(request, { ...options, signatureEncoding });
          if (isRecord) await run();
          else await failsWith(run, 'INVALID_RECORD');
        }
      }
      const longer = requestOf({ ...vector, bodyHex: `${vector.bodyHex}20` }, 'hex');
      await failsWith(() => verify(longer, options), 'SIGNATURE_MISMATCH');
    },
  };
}

function requestOf(vector: Vector, encoding: (typeof encodings)[number]): object {
  return {
    rawBody: bytesOf(vector.bodyHex),
    headers: { 'x-timestamp': vector.timestamp, 'x-signature': vector[encoding] },
  };
}

/** The vector's secret and a clock that stands at its timestamp, in the unit that its size gives away. */
function optionsOf({ secretHex, timestamp }: Vector): object {
  const signingSecret = bytesOf(secretHex);
  const value = Number(timestamp);
  return value > NOW_SECONDS * 100
    ? { signingSecret, now: () => value, timestampUnit: 'milliseconds' }
    : { signingSecret, now: () => value * 1000 };
}
