import type { IncomingHttpHeaders } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { document, headersOf, type MediaType, type Operation } from './document.js';

/** A request, or an answer, as it was on the wire. */
export interface WireMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WireAnswer extends WireMessage {
  readonly status: number;
}

const ajv = new Ajv2020({ allErrors: true });
// The document is what references resolve in; its own keywords are OpenAPI's.
ajv.addVocabulary(Object.keys(document).filter((keyword) => !keyword.startsWith('$')));
ajv.addSchema(document, 'openapi.json');

/** Where a request departs from its operation: security, headers, media type and body. */
export function findRequestDepartures(operation: Operation, request: WireMessage): string[] {
  return [
    ...findCredentialDepartures(operation, request.headers),
    ...headersOf(operation).flatMap(({ name, required, schema }) => {
      const value = request.headers[name.toLowerCase()];
      if (value === undefined) return required ? [`${name} is missing`] : [];
      return findSchemaDepartures(name, schema, value);
    }),
    ...findBodyDepartures(operation.requestBody.content, request),
  ];
}

/** Where an answer departs from what its operation says for its status. */
export function findAnswerDepartures(operation: Operation, answer: WireAnswer): string[] {
  const { content } = operation.responses[statusKeyOf(operation, answer.status)] ?? {};
  if (content !== undefined) return findBodyDepartures(content, answer);
  return answer.body === '' ? [] : ['received a body, but none is described'];
}

/** Which of an operation's `responses` speaks of a status: the narrowest. */
export function statusKeyOf({ responses }: Operation, status: number): string {
  const keys = [String(status), `${Math.floor(status / 100)}XX`, 'default'];
  const key = keys.find((one) => one in responses);
  if (key === undefined) throw new Error(`${status} is not described`);
  return key;
}

/** Where a value departs from a schema of the document. */
export function findSchemaDepartures(name: string, schema: object, value: unknown): string[] {
  const validate = compile(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${name}${instancePath} ${message}`,
  );
}

/** As {@link findSchemaDepartures}, for one of `components.schemas`. */
export function findComponentDepartures(name: string, value: unknown): string[] {
  return findSchemaDepartures(name, { $ref: `#/components/schemas/${name}` }, value);
}

function findCredentialDepartures(
  { security = document.security }: Operation,
  { authorization }: IncomingHttpHeaders,
): string[] {
  if (security.length === 0) return [];
  return /^Basic [A-Za-z0-9+/]+={0,2}$/.test(authorization ?? '')
    ? []
    : ['Authorization does not carry Basic credentials'];
}

function findBodyDepartures(
  content: Readonly<Record<string, MediaType>>,
  { headers, body }: WireMessage,
): string[] {
  const type = headers['content-type']?.split(';', 1)[0]?.trim() ?? '';
  const media = content[type] ?? content['*/*'];
  if (media === undefined) return [`the media type ${type} is not described`];
  if (type !== 'application/json') return findSchemaDepartures('body', media.schema, body);
  try {
    return findSchemaDepartures('body', media.schema, JSON.parse(body));
  } catch (error) {
    if (error instanceof SyntaxError) return ['the body is not JSON'];
    throw error;
  }
}

const compiled = new Map<string, ValidateFunction>();

function compile(schema: object): ValidateFunction {
  // It stands outside of the document here, where its references would point to itself.
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi.json#/');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, validate);
  return validate;
}
