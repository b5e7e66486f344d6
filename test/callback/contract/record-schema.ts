import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { StandardSchemaV1 } from '../../../src/protocol/standard-schema.js';
import { failureOf, refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

/** A schema by hand, as any library could make it. */
export function schemaOf(validate: StandardSchemaV1['~standard']['validate']): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}

/** What both implementations do alike; asynchronous schemas are in the tests of each. */
export function describeRecordSchema(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);

  describe('recordSchema', () => {
    it('accepts by a zod schema', async () => {
      const recordSchema = z.object({ status: z.enum(['paid', 'failed']) });
      expect((await verify(sampleRequest(), { recordSchema })).payment).toEqual(sampleRecord());
    });

    it('refuses by a zod schema, with its issues', async () => {
      const recordSchema = z.object({ amount: z.object({ value: z.number() }) });
      const request = sampleRequest({ body: JSON.stringify(sampleRecord({ amount: {} })) });
      const error = await refusalOf(() => verify(request, { recordSchema }));
      expect(error.code).toBe('INVALID_RECORD');
      expect(error.issues).toMatchObject([{ path: ['amount', 'value'] }]);
      expect(error.message).toContain('amount.value');
    });

    it('does not use what the schema converts', async () => {
      const recordSchema = schemaOf(() => ({ value: { status: 'converted' } }));
      expect((await verify(sampleRequest(), { recordSchema })).payment).toEqual(sampleRecord());
    });

    it('that writes to the record does not change the key', async () => {
      const recordSchema = schemaOf((value) => {
        Object.assign(value as object, { status: 'converted' });
        return { value };
      });
      const { key } = await verify(sampleRequest(), { recordSchema });
      expect(key).toBe(await implementation.callbackKey(sampleRecord()));
    });

    it('sees fields the interface does not show', async () => {
      let seen: unknown;
      const recordSchema = schemaOf((value) => {
        seen = value;
        return { value };
      });
      const record = sampleRecord({ amount: 7 });
      await verify(sampleRequest({ body: JSON.stringify(record) }), { recordSchema });
      expect(seen).toEqual(record);
    });

    it('shows no control character that its issues quote', async () => {
      const recordSchema = schemaOf(() => ({
        issues: [{ message: 'got a\u009bb\u001b[2J', path: ['x\u0085y'] }],
      }));
      const error = await refusalOf(() => verify(sampleRequest(), { recordSchema }));
      expect(error.message).toContain(': x y got a b [2J');
      expect(error.issues).toEqual([{ message: 'got a b [2J', path: ['x y'] }]);
    });

    it('reads every form of a path', async () => {
      const recordSchema = schemaOf(() => ({
        issues: [
          { message: 'no path' },
          { message: 'undefined path', path: undefined },
          { message: 'keys', path: ['a', 0] },
          { message: 'segments', path: [{ key: 'a' }, { key: 0 }] },
        ],
      }));
      const error = await refusalOf(() => verify(sampleRequest(), { recordSchema }));
      expect(error.issues).toEqual([
        { path: [], message: 'no path' },
        { path: [], message: 'undefined path' },
        { path: ['a', 0], message: 'keys' },
        { path: ['a', 0], message: 'segments' },
      ]);
      expect(error.message).toContain('no path; undefined path; a.0 keys; a.0 segments');
    });

    it('may be a function with the standard property, as arktype makes them', async () => {
      const recordSchema = Object.assign(
        () => undefined,
        schemaOf((value) => ({ value })),
      );
      await verify(sampleRequest(), { recordSchema });
    });

    it('that throws lets its own error through, since the schema is at fault', async () => {
      const fault = new Error('a bug in the schema');
      const recordSchema = schemaOf(() => {
        throw fault;
      });
      expect(await failureOf(() => verify(sampleRequest(), { recordSchema }))).toBe(fault);
    });
  });
}
