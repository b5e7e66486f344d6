import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { document } from './document.js';

const ajv = new Ajv2020({ allErrors: true });
// The document is what references resolve in; its own keywords are OpenAPI's.
ajv.addVocabulary(Object.keys(document).filter((keyword) => !keyword.startsWith('$')));
ajv.addSchema(document, 'openapi.json');
const compiled = new Map<string, ValidateFunction>();

/** Where a value departs from one of `components.schemas`. */
export function findComponentDepartures(name: string, value: unknown): string[] {
  const $ref = `openapi.json#/components/schemas/${name}`;
  const validate = compiled.get(name) ?? ajv.compile({ $ref });
  compiled.set(name, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${name}${instancePath} ${message}`,
  );
}
