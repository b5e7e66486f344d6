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
