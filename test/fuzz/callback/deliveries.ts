import fc from 'fast-check';
import { type Encoding, NOW_SECONDS, sampleRecord, sign } from '../../callback/sample-callback.js';
import { applyToBody, applyToHeaders, applyToText, mutations } from './mutations.js';
import { profiles } from './profiles.js';

export type HeaderPair = readonly [name: string, value: string];

/** A callback as it could come in, valid or mangled. */
export interface Delivery {
  /** Index of the verifier that it comes to. */
  readonly profile: number;
  readonly headers: readonly HeaderPair[];
  readonly body: string | Uint8Array;
  readonly shape: HeaderShape;
  readonly bodyKind: BodyKind;
}

/** How the headers are handed over. */
export type HeaderShape = (typeof shapes)[number];
const shapes = ['record', 'lists', 'pairs', 'Headers', 'Map'] as const;

/** How the body is handed over. */
export type BodyKind = (typeof bodyKinds)[number];
const bodyKinds = ['buffer', 'text', 'ArrayBuffer', 'part of a buffer'] as const;

const names: readonly (readonly [string, string])[] = [
  ['x-timestamp', 'x-signature'],
  ['X-Timestamp', 'X-Signature'],
  ['X-TIMESTAMP', 'x-sIGNATURE'],
];

const further: readonly HeaderPair[] = [
  ['content-type', 'application/json'],
  ['x-time-stamp', '1'],
  ['x-signatures', 'a'],
  ['constructor', 'x'],
  ['x-forwardeds', '7'],
];

const RECORD = JSON.stringify(sampleRecord());

const recordTexts: readonly string[] = [
  RECORD,
  JSON.stringify(sampleRecord({ status: 'payé \u{1F9FE}', providerReference: '' })),
  JSON.stringify({ extra: [{ deep: null }], ...sampleRecord({ updatedAt: '2026-01-31T12:00Z' }) }),
  JSON.stringify(sampleRecord({ createdAt: '2026-02-31t23:59:60,123456789-2359' }), null, 2),
  ` \n${RECORD}\r\n\t`,
  RECORD.replace('{', '{"status":7,"__proto__":{"status":1},'),
  RECORD.replace('paid', 'p\\u0061id\\ud800'),
  RECORD.replace('}', `,"huge":${'9'.repeat(50)}e-999,"tiny":1e999}`),
];

// Rare, as each takes as long as a hundred others.
const largeTexts: readonly string[] = [
  RECORD.replace('}', `,"huge":${'9'.repeat(5_000)}}`),
  RECORD.replace('}', `,"filled":"${'x'.repeat(60_000)}"}`),
  RECORD.replace('}', `,"filled":"${'é'.repeat(40_000)}"}`),
  RECORD.replace('}', `,"nested":${'['.repeat(400)}${']'.repeat(400)}}`),
];

const otherTexts: readonly string[] = [
  '',
  '{}',
  '[]',
  `[${RECORD}]`,
  `\ufeff${RECORD}`,
  `${RECORD}${RECORD}`,
  RECORD.replace('paid', ''),
  RECORD.replace('"paid"', 'NaN'),
  RECORD.replace('"paid"', '["paid"]'),
  RECORD.replace('"paid"', '01'),
  RECORD.replace('paid', 'pa\tid'),
  RECORD.replace('}', ',}'),
  RECORD.replace('}', ',"status":null}'),
  RECORD.replace('+00:00', ''),
  RECORD.replace('+00:00', '+24:00'),
  RECORD.replace('2026-01-31T12:00:05', '2026-13-31T12:00:05'),
  RECORD.replace('2026-01-31T12:00:05', '２026-01-31T12:00:05'),
  RECORD.replace('.000+00:00"}', '.000+00:00\\n"}'),
  `{"__proto__":${RECORD}}`,
];

const bodies: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 600, arbitrary: fc.constantFrom(...recordTexts) },
  { weight: 90, arbitrary: fc.constantFrom(...otherTexts) },
  { weight: 50, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 3, arbitrary: fc.constantFrom(...largeTexts) },
);

// Around both edges of the window, and in the middle of it.
const skews = fc.record({
  edge: fc.constantFrom(0, 0, 1, -1),
  beyond: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }) },
  ),
});

const anyMutations = fc.oneof(
  { weight: 7, arbitrary: fc.constant([]) },
  { weight: 4, arbitrary: fc.array(mutations, { minLength: 1, maxLength: 2 }) },
);

/** Of callbacks of which about half are right in everything. */
const recipes = fc.record({
  profile: fc.nat(profiles.length - 1),
  signer: fc.constantFrom(0, 0, 1, 2, 0, 1, 2, -1),
  skew: skews,
  encoding: fc.constantFrom<Encoding>('hex', 'base64', 'base64url'),
  // Mostly in the encoding that the verifier asks for.
  fits: fc.constantFrom(true, true, true, false),
  names: fc.constantFrom(...names),
  further: fc.subarray([...further], { maxLength: 2 }),
  body: bodies,
  mutations: anyMutations,
  // Whether the signature is made of what the mutations left.
  signedAfter: fc.constantFrom(true, true, false),
  shape: fc.constantFrom(...shapes),
  bodyKind: fc.constantFrom(...bodyKinds),
});
type Recipe = typeof recipes extends fc.Arbitrary<infer Made> ? Made : never;

export const deliveries: fc.Arbitrary<Delivery> = recipes.map(toDelivery);

function toDelivery(recipe: Recipe): Delivery {
  const {
    mutations: applied,
    signedAfter,
    names: [timestampName, signatureName],
  } = recipe;
  const original = { timestamp: toTimestamp(recipe), body: recipe.body };
  const mangled = {
    timestamp: applyToText(original.timestamp, applied, 'timestamp'),
    body: applyToBody(original.body, applied),
  };
  const signature = signWith(recipe, signedAfter ? mangled : original);
  const headers = applyToHeaders(
    [
      [timestampName, mangled.timestamp],
      [signatureName, applyToText(signature, applied, 'signature')],
      ...recipe.further,
    ],
    applied,
  );
  const { profile, shape, bodyKind } = recipe;
  return { profile, headers, body: mangled.body, shape, bodyKind };
}

function toTimestamp({ profile, skew }: Recipe): string {
  const { toleranceSeconds, timestampUnit } = profileAt(profile);
  const seconds = NOW_SECONDS + skew.edge * (toleranceSeconds + skew.beyond);
  return String(timestampUnit === 'seconds' ? seconds : seconds * 1000 + 500);
}

function signWith(
  { profile, signer, encoding, fits }: Recipe,
  { timestamp, body }: { timestamp: string; body: string | Uint8Array },
): string {
  const { secrets, signatureEncoding } = profileAt(profile);
  const secret = signer === -1 ? 'a stranger' : (secrets[signer % secrets.length] ?? '');
  const wanted = fits && signatureEncoding !== 'auto' ? signatureEncoding : encoding;
  return sign(body, { secret, timestamp, encoding: wanted });
}

function profileAt(index: number) {
  const profile = profiles[index];
  if (profile === undefined) throw new RangeError(`no profile ${index}`);
  return profile;
}
