import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** A character of any plane. fast-check's unit 'binary' is the same, but takes a second of the processor to make. */
const character = fc
  .nat(0x10ffff - SURROGATES.count)
  .map((code) => String.fromCodePoint(code < SURROGATES.first ? code : code + SURROGATES.count));

/** Any text, of code points of all planes. */
export const anyText = (constraints: fc.StringSharedConstraints = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: character });
