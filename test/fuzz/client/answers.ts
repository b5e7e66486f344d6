import { gzipSync } from 'node:zlib';
import fc from 'fast-check';

/** What a server does once it has a request. */
export interface Answer {
  /** For messages. */
  [fc.toStringMethod](): string;
  /** The pieces, written with a turn of the event loop between them. */
  readonly pieces: readonly Buffer[];
  /** What it does with the connection then. */
  readonly ending: Ending;
  /** Whether it answers once it has the head of the request, without its body. */
  readonly early: boolean;
  /** Whether bytes of it were changed at random. */
  readonly isMutated: boolean;
  /** Whether a client may wait in vain for the rest of it. */
  readonly mayStall: boolean;
  /** Status of an answer that HTTP leaves no doubt about. */
  readonly validStatus?: number;
  /** Its body, where that is as plain. */
  readonly validBody?: string;
}

export type Ending = (typeof endings)[number];
const endings = ['keep', 'end', 'reset', 'half-close'] as const;

/** Beyond it a body is refused by the clients of these runs. */
export const MAX_RESPONSE_BYTES = 4096;

const RECORD = '{"referenceNumber":"7b0f4e0e","status":"pending","code":"NOT_NOW","message":"m"}';
const OTHER_ANSWER = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}';

const statuses = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(200, 201, 202, 299) },
  { weight: 4, arbitrary: fc.constantFrom(400, 401, 404, 409, 422, 499) },
  { weight: 2, arbitrary: fc.constantFrom(429, 500, 502, 503, 504, 599) },
  { weight: 2, arbitrary: fc.constantFrom(300, 301, 302, 303, 307, 308, 399) },
  { weight: 2, arbitrary: fc.constantFrom(204, 205, 206, 304, 407, 421) },
  { weight: 1, arbitrary: fc.constantFrom(0, 99, 101, 199, 600, 999) },
);

const bodies = fc.oneof(
  { weight: 6, arbitrary: fc.constant(Buffer.from(RECORD)) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('', '{', '[]', 'null', '<html>', OTHER_ANSWER, '\ufeff{}', '{"code":1}')
      .map((text) => Buffer.from(text)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constantFrom(Buffer.alloc(6000, 'x'), Buffer.alloc(70_000, '{')) },
);

interface Framed {
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Whether HTTP knows where the body ends: by itself, by the end of the connection, or not at all. */
  readonly delimited: 'itself' | 'end' | 'not';
}

type Framing = (body: Buffer) => Framed;

const rightFramings: readonly Framing[] = [
  (body) => ({ headers: [`Content-Length: ${body.length}`], body, delimited: 'itself' }),
  (body) => ({
    headers: ['transfer-encoding: chunked'],
    body: toChunks(body),
    delimited: 'itself',
  }),
  (body) => ({ headers: [], body, delimited: 'end' }),
];

const wrongLengths: readonly ((body: Buffer) => string)[] = [
  (body) => `content-length: ${body.length + 1}`,
  (body) => `content-length: ${Math.max(0, body.length - 1)}`,
  () => 'content-length: 0',
  () => 'content-length: -1',
  () => 'content-length: 99999999999999999999',
  () => 'content-length: 1e1',
  (body) => `content-length: +${body.length}`,
  (body) => `content-length: ${body.length}, ${body.length}`,
  (body) => `content-length: ${body.length}\r\ncontent-length: ${body.length}`,
  (body) => `content-length: ${body.length}\r\ncontent-length: 0`,
  (body) => `content-length: ${body.length}\r\ntransfer-encoding: chunked`,
  () => 'transfer-encoding: gzip, chunked',
  () => 'transfer-encoding: chunked, identity',
  () => 'transfer-encoding: xchunked',
];

const wrongFramings = wrongLengths.map(
  (write): Framing =>
    (body) => ({
      headers: [write(body)],
      body,
      delimited: 'not',
    }),
);

const brokenChunks: readonly ((body: Buffer) => string)[] = [
  (body: Buffer) => `zz\r\n${body}\r\n0\r\n\r\n`,
  (body: Buffer) => `${(body.length + 1).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  (body: Buffer) => `${Math.max(1, body.length - 1).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  (body: Buffer) => `${body.length.toString(16)}\r\n${body}\r\n`,
  (body: Buffer) => `${body.length.toString(16)}\n${body}\n0\n\n`,
  (body: Buffer) =>
    `${body.length.toString(16)};a="${'x'.repeat(300)}"\r\n${body}\r\n0\r\nX: y\r\n\r\n`,
  () => `${'f'.repeat(17)}\r\n`,
  () => `0\r\n${'X: y\r\n'.repeat(5000)}\r\n`,
  () => '-1\r\n\r\n',
];

const wrongChunks = brokenChunks.map(
  (write): Framing =>
    (body) => ({
      headers: ['transfer-encoding: chunked'],
      body: Buffer.from(write(body)),
      delimited: 'not',
    }),
);

function toChunks(body: Buffer): Buffer {
  const middle = Math.floor(body.length / 2);
  const chunks = [body.subarray(0, middle), body.subarray(middle)].filter(
    ({ length }) => length > 0,
  );
  return Buffer.concat([
    ...chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('0\r\n\r\n'),
  ]);
}

const framings = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...rightFramings) },
  { weight: 1, arbitrary: fc.constantFrom(...wrongFramings) },
  { weight: 1, arbitrary: fc.constantFrom(...wrongChunks) },
);

const harmlessHeaders = [
  'content-type: application/json',
  'Content-Type: text/html',
  'retry-after: 0',
  'retry-after: soon',
  'location: http://127.0.0.1:1/elsewhere',
  'set-cookie: a=1\r\nset-cookie: b=2',
  'x-empty:',
  `x-long: ${'x'.repeat(3000)}`,
  'www-authenticate: Basic realm="x"',
] as const;

const harmfulHeaders = [
  `x-too-long: ${'x'.repeat(20_000)}`,
  Array.from({ length: 400 }, (_, index) => `x-flood-${index}: ${'y'.repeat(60)}`).join('\r\n'),
  'x nul: a\0b',
  'no colon',
  ': no name',
  'x-folded: a\r\n b',
  'x-latin: \xff\xfe',
  'connection: close',
  'connection: upgrade\r\nupgrade: websocket',
  'keep-alive: timeout=0',
  'keep-alive: timeout=99999999999',
  'content-encoding: gzip',
  'content-encoding: br',
  'content-encoding: gzip, deflate, x-none',
  'content-encoding: identity',
  'trailer: x',
  '__proto__: x',
] as const;

const headerSets = fc.record({
  harmless: fc.subarray([...harmlessHeaders], { maxLength: 3 }),
  harmful: fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray([...harmfulHeaders], { minLength: 1, maxLength: 2 }) },
  ),
});

const interims = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
      'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3),
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      '\r\n\r\n',
      'SSH-2.0-OpenSSH\r\n',
    ),
  },
);

type ByteMutation = (bytes: Buffer, at: number) => Buffer;

const byteMutations: readonly ByteMutation[] = [
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from([at % 256]), bytes.subarray(at)]),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n'), bytes.subarray(at)]),
  (bytes, at) => Buffer.concat([bytes, bytes.subarray(at)]),
  (bytes, at) => {
    const flipped = Buffer.from(bytes);
    if (at < bytes.length) flipped[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
    return flipped;
  },
  (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  (bytes) => Buffer.from(bytes.toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'), 'latin1'),
  (bytes) => Buffer.from(bytes.toString('latin1').replace('HTTP/1.1', 'HTTP/2.0'), 'latin1'),
  (bytes) => Buffer.from(bytes.toString('latin1').replace('HTTP', 'http'), 'latin1'),
];

const byteChanges = fc.oneof(
  { weight: 7, arbitrary: fc.constant([]) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.record({ mutate: fc.constantFrom(...byteMutations), at: fc.nat(100_000) }),
      { minLength: 1, maxLength: 2 },
    ),
  },
);

const garbage = fc.oneof(
  { weight: 18, arbitrary: fc.constant('') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\r\n',
      '\0\0\0\0',
      'garbage\r\n\r\n',
      OTHER_ANSWER,
      'HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}',
      'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n',
    ),
  },
);

interface Recipe {
  readonly interim: string;
  readonly status: number;
  readonly headers: { readonly harmless: readonly string[]; readonly harmful: readonly string[] };
  readonly body: Buffer;
  readonly compressed: 'no' | 'gzip' | 'broken gzip';
  readonly framing: Framing;
  readonly changes: readonly { readonly mutate: ByteMutation; readonly at: number }[];
  readonly garbage: string;
  readonly cuts: readonly number[];
  readonly ending: Ending;
  readonly early: boolean;
  readonly mayStall: boolean;
}

/** Answers from right to nonsense; of about a third a client can be held to what they say. */
export const answers: fc.Arbitrary<Answer> = fc
  .record<Recipe>({
    interim: interims,
    status: statuses,
    headers: headerSets,
    body: bodies,
    compressed: fc.oneof(
      { weight: 8, arbitrary: fc.constant('no' as const) },
      { weight: 1, arbitrary: fc.constantFrom('gzip' as const, 'broken gzip' as const) },
    ),
    framing: framings,
    changes: byteChanges,
    garbage,
    cuts: fc.array(fc.nat(100_000), { maxLength: 4 }),
    ending: fc.constantFrom('end', 'keep', 'keep', 'keep', 'keep', 'half-close', 'reset'),
    early: fc.oneof(
      { weight: 9, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    mayStall: fc.oneof(
      { weight: 30, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
  })
  .map(toAnswer);

function toAnswer(given: Recipe): Answer {
  const recipe = given.mayStall ? given : withoutStall(given);
  const { interim, status, headers, changes, cuts, ending, early } = recipe;
  const content = compress(recipe);
  const framed = recipe.framing(content.body);
  const lines = [
    `HTTP/1.1 ${String(status).padStart(3, '0')} Text`,
    ...framed.headers,
    ...content.headers,
    ...headers.harmless,
    ...headers.harmful,
  ];
  const whole = Buffer.concat([
    Buffer.from(`${interim}${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    framed.body,
    Buffer.from(recipe.garbage, 'latin1'),
  ]);
  const bytes = changes.reduce<Buffer>(
    (current, { mutate, at }) => mutate(current, at % (current.length + 1)),
    whole,
  );
  const pieces = cut(bytes, cuts);
  const plain = isPlain(recipe, framed);
  return {
    [fc.toStringMethod]: () => describe(pieces, ending, early),
    pieces,
    ending,
    early,
    isMutated: changes.length > 0,
    mayStall: ending === 'keep' && !plain,
    ...(plain && {
      validStatus: status,
      ...(status !== 205 && { validBody: recipe.body.toString() }),
    }),
  };
}

// A stall costs its call's whole deadline: few of those that could have one are let.
function withoutStall(recipe: Recipe): Recipe {
  const plain = isPlain(recipe, recipe.framing(recipe.body));
  return recipe.ending === 'keep' && !plain ? { ...recipe, ending: 'end' } : recipe;
}

function describe(pieces: readonly Buffer[], ending: Ending, early: boolean): string {
  const texts = pieces.map((piece) => {
    const text = piece.toString('latin1');
    return JSON.stringify(text.length > 400 ? `${text.slice(0, 400)}… ${text.length}` : text);
  });
  return `[${texts}] then ${ending}${early ? ', early' : ''}`;
}

function compress({ body, compressed }: Recipe): { headers: readonly string[]; body: Buffer } {
  if (compressed === 'no') return { headers: [], body };
  const packed = gzipSync(body);
  if (compressed === 'broken gzip') packed[packed.length >> 1] = 0xff;
  return { headers: ['content-encoding: gzip'], body: packed };
}

// With a body these have a meaning of their own, or none.
const ODD_STATUSES: readonly number[] = [204, 205, 206, 304, 407, 421];

function isPlain(recipe: Recipe, { delimited }: Framed): boolean {
  const { interim, status, headers, body, compressed, changes, ending, early } = recipe;
  return (
    (interim === '' || interim.startsWith('HTTP/1.1 103')) &&
    status >= 200 &&
    status < 600 &&
    !ODD_STATUSES.includes(status) &&
    headers.harmful.length === 0 &&
    body.length <= MAX_RESPONSE_BYTES &&
    compressed === 'no' &&
    changes.length === 0 &&
    recipe.garbage === '' &&
    !early &&
    // A reset may overtake what was written before it.
    ending !== 'reset' &&
    (delimited === 'itself' || (delimited === 'end' && ending !== 'keep' && !looksCut(recipe)))
  );
}

/** Whether it may be JSON that broke off, where only the end of the connection ends it. */
function looksCut({ headers, body }: Recipe): boolean {
  const text = body.toString().replace(/^\ufeff/, '');
  const isOfJson = headers.harmless.some((header) => header.includes('json'));
  if (!isOfJson && !/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((place) => place % (bytes.length + 1)))].sort(
    (a, b) => a - b,
  );
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}
