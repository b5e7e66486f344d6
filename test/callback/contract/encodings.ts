import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

const text = JSON.stringify(sampleRecord());
const compressed = gzipSync(text);

type Headers = Record<string, string>;

const forms: [string, (headers: Headers) => unknown][] = [
  ['an object', (headers) => headers],
  ['a Headers', (headers) => new Headers(headers)],
  ['pairs', (headers) => Object.entries(headers)],
];

export function describeEncodings(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);

  describe('content-encoding', () => {
    it.each(forms)('in %s is named when the signature does not match', async (_what, form) => {
      const { headers } = sampleRequest({ body: text });
      const encoded = form({ ...headers, 'Content-Encoding': 'gzip' });
      const error = await refusalOf(() => verify({ rawBody: compressed, headers: encoded }));
      expect(error.code).toBe('SIGNATURE_MISMATCH');
      expect(error.message).toContain('The body has content-encoding gzip');
    });

    it('is named when the compressed bytes were signed, which are no record', async () => {
      const { headers } = sampleRequest({ body: compressed });
      const encoded = { ...headers, 'content-encoding': 'gzip' };
      const error = await refusalOf(() => verify({ rawBody: compressed, headers: encoded }));
      expect(error.code).toBe('INVALID_RECORD');
      expect(error.message).toContain('content-encoding gzip');
    });

    it('is not named where there is none', async () => {
      const { headers } = sampleRequest({ body: 'another' });
      for (const encoding of [undefined, 'Identity']) {
        const encoded = { ...headers, 'content-encoding': encoding };
        const error = await refusalOf(() => verify({ rawBody: text, headers: encoded }));
        expect(error.message).not.toContain('content-encoding');
      }
    });

    it('is not quoted if it is none that exists: anyone may have written it', async () => {
      const { headers } = sampleRequest({ body: 'another' });
      for (const encoding of ['<b>', 'x'.repeat(33), 7]) {
        const encoded = { ...headers, 'content-encoding': encoding };
        const error = await refusalOf(() => verify({ rawBody: text, headers: encoded }));
        expect(error.message).toContain('content-encoding');
        expect(error.message).not.toContain(String(encoding));
      }
    });
  });
}
