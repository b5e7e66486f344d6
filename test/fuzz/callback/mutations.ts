import fc from 'fast-check';
import type { HeaderPair } from './deliveries.js';

/** One thing that is done to a valid callback. */
export interface Mutation {
  readonly on: 'timestamp' | 'signature' | 'body' | 'headers';
  readonly kind: number;
  /** Where, counted from the start and taken modulo the length. */
  readonly at: number;
  readonly character: string;
}

// What trims, look-alikes, line ends and terminators make of a text.
const characters = [...' \t\n\r\0\v\u00a0\ufeff\u200b\u2028０٣аＡ=-_+/.,09aFé\u{1d7d8}%', '\ud800'];

export const mutations: fc.Arbitrary<Mutation> = fc.record({
  on: fc.constantFrom('timestamp', 'signature', 'signature', 'body', 'headers'),
  kind: fc.nat(1000),
  at: fc.nat(1000),
  character: fc.constantFrom(...characters),
});

type TextMutation = (text: string, at: number, character: string) => string;

const textMutations: readonly TextMutation[] = [
  (text, at) => replaceAt(text, at, (code) => String.fromCharCode(code ^ (1 << (at % 8)))),
  (text, at, character) => text.slice(0, at) + character + text.slice(at),
  (text, at, character) => replaceAt(text, at, () => character),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at) => text.slice(0, at),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => `${text}=`,
  (text) => text.replace(/=+$/, ''),
  (text) => `0${text}`,
  (text) => `00000${text}`,
  (text) => `+${text}`,
  (text) => `${text}.0`,
  (text) => `${text}000`,
  (text, _at, character) => character + text,
  (text, _at, character) => text + character,
  (text) => `${text},${text}`,
  (text) => `sha256=${text}`,
  (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
  (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
  (text) => text.replace(/.(=?)$/, 'B$1'),
  (text) => text.repeat(200),
  () => '99999999999',
  () => '100000000000',
  () => '0',
  () => '',
];

/** The text after those of the mutations that are about it. */
export function applyToText(
  text: string,
  mutations: readonly Mutation[],
  on: 'timestamp' | 'signature',
): string {
  return mutations
    .filter((mutation) => mutation.on === on)
    .reduce((current, { kind, at, character }) => {
      const mutate = textMutations[kind % textMutations.length] as TextMutation;
      return mutate(current, at % (current.length + 1), character);
    }, text);
}

function replaceAt(text: string, at: number, replace: (code: number) => string): string {
  if (at >= text.length) return text;
  return text.slice(0, at) + replace(text.charCodeAt(at)) + text.slice(at + 1);
}

type BodyMutation = (bytes: Buffer, at: number, character: string) => string | Buffer;

const bodyMutations: readonly BodyMutation[] = [
  (bytes, at) => withByte(bytes, at, (byte) => byte ^ (1 << (at % 8))),
  (bytes, at) => withByte(bytes, at, () => 0xff),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at, character) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(character), bytes.subarray(at)]),
  (bytes) => Buffer.concat([bytes, Buffer.from('\n')]),
  (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
  (bytes) => Buffer.from(bytes.toString('latin1')),
  (bytes) => Buffer.from(bytes.toString(), 'utf16le'),
  (bytes) => Buffer.concat([bytes, Buffer.from([0xed, 0xa0, 0x80])]),
  // Text only: it has no bytes.
  (bytes, at, character) => `${bytes.toString().slice(0, at)}${character}`,
  (bytes) => `${bytes}\ud800`,
];

export function applyToBody(
  body: string | Uint8Array,
  mutations: readonly Mutation[],
): string | Uint8Array {
  return mutations
    .filter(({ on }) => on === 'body')
    .reduce((current, { kind, at, character }) => {
      const mutate = bodyMutations[kind % bodyMutations.length] as BodyMutation;
      const bytes = Buffer.from(current as string);
      return mutate(bytes, at % (bytes.length + 1), character);
    }, body);
}

function withByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  const changed = Buffer.from(bytes);
  if (at < bytes.length) changed[at] = change(bytes[at] ?? 0);
  return changed;
}

type HeaderMutation = (
  headers: readonly HeaderPair[],
  at: number,
  character: string,
) => readonly HeaderPair[];

const headerMutations: readonly HeaderMutation[] = [
  (headers, at) => headers.filter((_, index) => index !== at % 2),
  (headers, at) => [...headers, headers[at % 2] as HeaderPair],
  (headers, at) => [[(headers[at % 2] as HeaderPair)[0].toUpperCase(), '0'], ...headers],
  (headers, at) => [...headers, [(headers[at % 2] as HeaderPair)[0].toLowerCase(), '']],
  (headers, at) => rename(headers, at, (name) => name.replaceAll('-', '_')),
  (headers, at) => rename(headers, at, (name) => `${name} `),
  (headers, at) => rename(headers, at, (name) => name.replace(/s/i, 'ſ')),
  (headers, at, character) => rename(headers, at, (name) => name.slice(0, -1) + character),
  ([timestamp, signature, ...others]) => [
    [timestamp?.[0] ?? '', signature?.[1] ?? ''],
    [signature?.[0] ?? '', timestamp?.[1] ?? ''],
    ...others,
  ],
  (headers) => [...headers].reverse(),
  (headers) => [...headers, ...flood],
];

const flood: readonly HeaderPair[] = Array.from({ length: 500 }, (_, index) => [
  `x-flood-${index}`,
  'x',
]);

export function applyToHeaders(
  headers: readonly HeaderPair[],
  mutations: readonly Mutation[],
): readonly HeaderPair[] {
  return mutations
    .filter(({ on }) => on === 'headers')
    .reduce((current, { kind, at, character }) => {
      // The first mutation may have taken away what the second is about.
      if (current.length < 2) return current;
      const mutate = headerMutations[kind % headerMutations.length] as HeaderMutation;
      return mutate(current, at, character);
    }, headers);
}

function rename(
  headers: readonly HeaderPair[],
  at: number,
  change: (name: string) => string,
): readonly HeaderPair[] {
  return headers.map(([name, value], index) =>
    index === at % 2 ? [change(name), value] : [name, value],
  );
}
