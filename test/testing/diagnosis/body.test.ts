import { describe, expect, test } from 'vitest';
import type { CallbackFindingCode } from '../../../src/testing/index.js';
import vectors from '../../vectors/signatures.json' with { type: 'json' };
import { COMPACT, diagnose, expectExplained, now, sampleRecord } from './scene.js';

const record = sampleRecord();
const pretty = (indent: string | number) => JSON.stringify(record, null, indent);
/** json.dumps of Python: a space after commas and colons. No string of the record holds either. */
const python = COMPACT.replaceAll('","', '", "').replaceAll('":"', '": "');
const sorted = JSON.stringify(Object.fromEntries(Object.entries(record).sort()));
const further = { zone: 'EU', amount: 5, nested: { b: [1, { d: 1, c: 2 }], a: {} } };
const withFurther = JSON.stringify({ ...record, ...further });
const deepSorted =
  '{"amount":5,"createdAt":"2026-01-31T12:00:00.000+00:00","merchantPaymentReference":"order-1001","nested":{"a":{},"b":[1,{"c":2,"d":1}]},"providerReference":"prov-77","referenceNumber":"5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90","status":"paid","updatedAt":"2026-01-31T12:00:05.000+00:00","zone":"EU"}';

const reference = (merchantPaymentReference: string) =>
  JSON.stringify(sampleRecord({ merchantPaymentReference }));
const slashes = reference('a/b');
const phpSlashes = slashes.replaceAll('/', '\\/');
const accents = reference('clé №1 🧾');
const lower = accents
  .replace('é', '\\u00e9')
  .replace('№', '\\u2116')
  .replace('🧾', '\\ud83e\\uddfe');
const upper = accents
  .replace('é', '\\u00E9')
  .replace('№', '\\u2116')
  .replace('🧾', '\\uD83E\\uDDFE');
const html = reference('<a & b>');
const goHtml = reference('\\u003ca \\u0026 b\\u003e').replaceAll('\\\\u', '\\u');
const lineSeparator = reference('a\u2028b');
const goLineSeparator = lineSeparator.replace('\u2028', '\\u2028');
const gson = reference("a='b'").replaceAll(/['=]/g, (one) => (one === '=' ? '\\u003d' : '\\u0027'));
const dotnet = COMPACT.replaceAll('+', '\\u002B');
const php = reference('clé/1').replace('é', '\\u00e9').replace('/', '\\/');

type Row = [name: string, signed: string, captured: string, ...codes: CallbackFindingCode[]];

describe('a body that was written again is explained:', () => {
  test.each<Row>([
    ['pretty-printed with 2 spaces', COMPACT, pretty(2), 'body-respaced'],
    ['pretty-printed with 4 spaces', COMPACT, pretty(4), 'body-respaced'],
    ['pretty-printed with tabs', COMPACT, pretty('\t'), 'body-respaced'],
    ['pretty-printed with 3 spaces', COMPACT, pretty(3), 'body-respaced'],
    ['2 spaces made compact', pretty(2), COMPACT, 'body-respaced'],
    ['4 spaces made compact', pretty(4), COMPACT, 'body-respaced'],
    ['tabs made compact', pretty('\t'), COMPACT, 'body-respaced'],
    ["Python's spaces made compact", python, COMPACT, 'body-respaced'],
    ["Python's spaces made 2 spaces", python, pretty(2), 'body-respaced'],
    ["compact made Python's", COMPACT, python, 'body-respaced'],
    ['keys sorted', COMPACT, sorted, 'body-keys-reordered'],
    ['keys put in order from sorted', sorted, COMPACT, 'body-keys-reordered'],
    ['keys sorted at all depths', deepSorted, withFurther, 'body-keys-reordered'],
    ['slashes unescaped', phpSlashes, slashes, 'body-slash-escapes'],
    ['slashes escaped', slashes, phpSlashes, 'body-slash-escapes'],
    ['lower-case escapes undone', lower, accents, 'body-unicode-escapes'],
    ['upper-case escapes undone', upper, accents, 'body-unicode-escapes'],
    ['escaped in lower case', accents, lower, 'body-unicode-escapes'],
    ['escaped in upper case', accents, upper, 'body-unicode-escapes'],
    ['the case of escapes changed', lower, upper, 'body-unicode-escapes'],
    ["Go's HTML escapes undone", goHtml, html, 'body-html-escapes'],
    ['HTML escaped as Go does', html, goHtml, 'body-html-escapes'],
    ["Go's line separator undone", goLineSeparator, lineSeparator, 'body-html-escapes'],
    ["Gson's escapes undone", gson, reference("a='b'"), 'body-html-escapes'],
    [".NET's escapes undone", dotnet, COMPACT, 'body-html-escapes'],
    ['.NET escapes added', COMPACT, dotnet, 'body-html-escapes'],
    [
      "PHP's escapes undone",
      php,
      JSON.stringify(JSON.parse(php)),
      'body-slash-escapes',
      'body-unicode-escapes',
    ],
    [
      "PHP's escapes undone and pretty-printed",
      php,
      JSON.stringify(JSON.parse(php), null, 2),
      'body-respaced',
      'body-slash-escapes',
      'body-unicode-escapes',
    ],
    ["sorted from Python's spaces", python, sorted, 'body-respaced', 'body-keys-reordered'],
    [
      'pretty-printed with a line break at the end',
      COMPACT,
      `${pretty(2)}\n`,
      'body-respaced',
      'body-trailing-newline',
    ],
    [
      'pretty-printed by a program on Windows',
      COMPACT,
      `${pretty(2)}\n`.replaceAll('\n', '\r\n'),
      'body-respaced',
      'body-trailing-newline',
    ],
  ])('%s', (_name, signed, captured, ...codes) => {
    for (const rawBody of [captured, Buffer.from(captured)]) {
      const diagnosis = diagnose({ signed, rawBody });
      expectExplained(diagnosis, ...codes);
      expect(diagnosis.error?.code).toBe('SIGNATURE_MISMATCH');
    }
  });

  test('with numbers whose spelling JSON.parse would lose', () => {
    const signed = '{"amount":1.0,"big":12345678901234567890,"small":1E-7}';
    const rawBody = '{\n  "amount": 1.0,\n  "big": 12345678901234567890,\n  "small": 1E-7\n}';
    const diagnosis = diagnose({ signed, rawBody });
    expectExplained(diagnosis, 'body-respaced', 'record-invalid');
  });

  test('in any layout that is known, from one that is not', () => {
    const diagnosis = diagnose({ signed: COMPACT, rawBody: COMPACT.replace('{', '{ ') });
    expectExplained(diagnosis, 'body-respaced');
    expect(diagnosis.findings[0]?.message).toContain('given is another layout');
  });

  test('saying which layout was signed, and how to get the bytes', () => {
    const [finding] = diagnose({ signed: COMPACT, rawBody: pretty(2) }).findings;
    expect(finding?.message).toContain('signed was the same JSON without white space');
    expect(finding?.message).toContain('given is one pretty-printed with 2 spaces');
    expect(finding?.remedy).toContain('express.raw(');
  });
});

const CRLF = (text: string) => text.replaceAll('\n', '\r\n');
const MARK = '\ufeff';

describe('a body whose edges or line ends were changed is explained:', () => {
  test.each<Row>([
    ['LF added', COMPACT, `${COMPACT}\n`, 'body-trailing-newline'],
    ['CR LF added', COMPACT, `${COMPACT}\r\n`, 'body-trailing-newline'],
    ['a second LF added', `${COMPACT}\n`, `${COMPACT}\n\n`, 'body-trailing-newline'],
    ['LF removed', `${COMPACT}\n`, COMPACT, 'body-trailing-newline'],
    ['CR LF removed', `${COMPACT}\r\n`, COMPACT, 'body-trailing-newline'],
    ['blanks around it', COMPACT, `  ${COMPACT} `, 'body-surrounding-space'],
    ['blank lines around it', COMPACT, `\n${COMPACT}\n\n`, 'body-surrounding-space'],
    ['LF made CR LF', pretty(2), CRLF(pretty(2)), 'body-line-endings'],
    ['CR LF made LF', CRLF(pretty(2)), pretty(2), 'body-line-endings'],
    ['the last LF made CR LF', `${COMPACT}\n`, `${COMPACT}\r\n`, 'body-line-endings'],
    ['a byte order mark added', COMPACT, MARK + COMPACT, 'body-byte-order-mark'],
    [
      'a byte order mark and LF added',
      COMPACT,
      `${MARK + COMPACT}\n`,
      'body-trailing-newline',
      'body-byte-order-mark',
    ],
  ])('%s', (_name, signed, captured, ...codes) => {
    for (const rawBody of [captured, Buffer.from(captured)]) {
      expectExplained(diagnose({ signed, rawBody }), ...codes);
    }
  });

  test('a byte order mark removed, with which it is no record', () => {
    const diagnosis = diagnose({ signed: MARK + COMPACT, rawBody: COMPACT });
    expectExplained(diagnosis, 'body-byte-order-mark', 'record-invalid');
  });

  test('text that is not JSON', () => {
    expectExplained(
      diagnose({ signed: 'a\nb', rawBody: 'a\r\nb\r\n' }),
      'body-trailing-newline',
      'body-line-endings',
      'record-invalid',
    );
  });

  test('bytes that are not UTF-8', () => {
    const signed = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const rawBody = Buffer.concat([signed, Buffer.from('\n')]);
    expectExplained(diagnose({ signed, rawBody }), 'body-trailing-newline', 'record-invalid');
  });
});

describe('a body in another encoding is explained:', () => {
  test('base64, as AWS Lambda hands it over', () => {
    const base64 = Buffer.from(COMPACT).toString('base64');
    expectExplained(diagnose({ rawBody: base64 }), 'body-base64');
    expectExplained(diagnose({ rawBody: base64.replace(/.{76}/g, '$&\r\n') }), 'body-base64');
    expectExplained(
      diagnose({ rawBody: Buffer.from(COMPACT).toString('base64url') }),
      'body-base64',
    );
  });

  test('base64 of a body that was written again', () => {
    const rawBody = Buffer.from(pretty(2)).toString('base64');
    expectExplained(diagnose({ rawBody }), 'body-base64', 'body-respaced');
  });

  test('a JSON string that holds the JSON', () => {
    expectExplained(diagnose({ rawBody: JSON.stringify(COMPACT) }), 'body-double-encoded');
    expectExplained(
      diagnose({ signed: accents, rawBody: JSON.stringify(accents) }),
      'body-double-encoded',
    );
  });

  test('UTF-8 read as Latin-1', () => {
    const rawBody = Buffer.from(accents).toString('latin1');
    expectExplained(diagnose({ signed: accents, rawBody }), 'body-wrong-charset');
  });

  test('UTF-8 read as Windows-1252', () => {
    const signed = reference('€ „x“ Ž');
    const rawBody = new TextDecoder('windows-1252').decode(Buffer.from(signed));
    expectExplained(diagnose({ signed, rawBody }), 'body-wrong-charset');
  });

  test('text written as Latin-1', () => {
    const signed = reference('clé');
    const rawBody = Buffer.from(signed, 'latin1');
    expectExplained(diagnose({ signed, rawBody }), 'body-wrong-charset');
  });

  test('but bytes that were lost are only noticed', () => {
    const signed = reference('clé');
    const cut = Buffer.from(signed, 'latin1').toString('utf8');
    for (const rawBody of [cut, Buffer.from(cut)]) {
      const diagnosis = diagnose({ signed: Buffer.from(signed, 'latin1'), rawBody });
      expect(diagnosis.signature).toBe('unexplained');
      expect(diagnosis.findings.map(({ code }) => code)).toEqual([
        'body-decoded-with-loss',
        'unexplained',
      ]);
    }
  });
});

test('a body is read alike in every shape of its bytes', () => {
  const bytes = Buffer.from(`..${COMPACT}\n..`);
  const view = bytes.subarray(2, -2);
  for (const rawBody of [view, Uint8Array.from(view), Uint8Array.from(view).buffer]) {
    expectExplained(diagnose({ rawBody }), 'body-trailing-newline');
  }
});

test('line ends of CR LF are kept when the keys were put in another order', () => {
  const signed = CRLF(JSON.stringify(JSON.parse(sorted), null, 2));
  expectExplained(diagnose({ signed, rawBody: CRLF(pretty(2)) }), 'body-keys-reordered');
});

test('escaped backslashes before a slash are no escapes of it', () => {
  const rawBody = reference('a\\/b');
  expectExplained(
    diagnose({ signed: rawBody.replaceAll('/', '\\/'), rawBody }),
    'body-slash-escapes',
  );
});

describe('a body that is no body', () => {
  test.each([
    ['empty', '', 'body-empty'],
    ['an object turned into text', '[object Object]', 'body-not-raw'],
  ])('is noticed: %s', (_name, rawBody, code) => {
    const diagnosis = diagnose({ rawBody });
    expect(diagnosis.signature).toBe('unexplained');
    expect(diagnosis.findings.map((finding) => finding.code)).toEqual([code, 'unexplained']);
  });
});

describe('a parsed object', () => {
  const options = { signingSecret: 'other-secret' };

  test.each([
    ['compact', COMPACT],
    ['with 2 spaces', pretty(2)],
    ["with Python's spaces", python],
    ['sorted', sorted],
    ["with .NET's escapes", dotnet],
    ['with a line break at the end', `${COMPACT}\n`],
  ])('is said to have the right signature when it was signed %s', (_name, signed) => {
    const diagnosis = diagnose({ signed, rawBody: JSON.parse(signed) });
    expectExplained(diagnosis, 'body-not-raw');
    expect(diagnosis.error?.code).toBe('RAW_BODY_REQUIRED');
    expect(diagnosis.findings[0]?.message).toContain('only the bytes were lost');
    expect(diagnosis.findings[0]?.remedy).toContain('express.raw(');
  });

  test('whose contents were not signed is refused as one', () => {
    const diagnosis = diagnose({ rawBody: { ...record, status: 'failed' } });
    expect(diagnosis.signature).toBe('unexplained');
    expect(diagnosis.findings.map(({ code }) => code)).toEqual(['body-not-raw', 'unexplained']);
    expect(diagnosis.findings[0]?.message).not.toContain('only the bytes were lost');
  });

  test('comes first, before a wrong secret', () => {
    const diagnosis = diagnose({ rawBody: record, key: 'other-secret ', options });
    expect(diagnosis.findings[0]?.code).toBe('body-not-raw');
  });

  test('is a Buffer that went through JSON', () => {
    const rawBody = JSON.parse(JSON.stringify(Buffer.from(COMPACT)));
    const diagnosis = diagnose({ rawBody });
    expectExplained(diagnosis, 'body-not-raw');
    expect(diagnosis.findings[0]?.message).toContain('an object that holds bytes');
  });

  test('is a view that leaves its bytes open', () => {
    const bytes = Uint8Array.from(Buffer.from(COMPACT));
    expectExplained(diagnose({ rawBody: new DataView(bytes.buffer) }), 'body-not-raw');
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['a function', () => undefined],
    ['an object with a circle', circle],
    ['an object with a BigInt', { amount: 5n }],
  ])('is refused when it is %s', (_name, rawBody) => {
    // A default would stand in for undefined.
    const diagnosis = diagnose({ rawBody: rawBody ?? null });
    expect(diagnosis.error?.code).toBe('RAW_BODY_REQUIRED');
    expect(diagnosis.findings[0]?.code).toBe('body-not-raw');
  });
});

describe('outside vectors', () => {
  const byName = (wanted: string) => {
    const vector = vectors.find(({ name }) => name === wanted);
    if (vector === undefined) throw new Error(`no vector is called ${wanted}`);
    return vector;
  };
  const diagnoseVector = (signed: string, captured: string) => {
    const vector = byName(signed);
    return diagnose({
      rawBody: Buffer.from(byName(captured).bodyHex, 'hex'),
      timestamp: vector.timestamp,
      signature: vector.base64,
      options: { signingSecret: Buffer.from(vector.secretHex, 'hex'), now },
    });
  };

  test.each<[string, string, ...CallbackFindingCode[]]>([
    ['a status record', 'the same record pretty-printed', 'body-respaced'],
    ['the same record pretty-printed', 'a status record', 'body-respaced'],
    ['the same record pretty-printed', 'CRLF line ends', 'body-line-endings'],
    ['CRLF line ends', 'the same record pretty-printed', 'body-line-endings'],
    ['a trailing line feed', 'a status record', 'body-trailing-newline'],
    ['a status record', 'a trailing line feed', 'body-trailing-newline'],
    ['a status record', 'a byte order mark before the record', 'body-byte-order-mark'],
  ])('signed %s, captured %s', (signed, captured, ...codes) => {
    expectExplained(diagnoseVector(signed, captured), ...codes);
  });
});
