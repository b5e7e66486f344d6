import { readFileSync } from 'node:fs';

// What of OpenAPI 3.1 the document uses.

export interface HeaderParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly example: string;
}

export interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody: { readonly content: Readonly<Record<string, object>> };
  readonly responses: Readonly<Record<string, object>>;
}

interface OpenApiDocument {
  readonly info: { readonly version: string };
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<
      Record<string, { readonly type: string; readonly scheme: string }>
    >;
    readonly parameters: Readonly<Record<string, HeaderParameter>>;
    readonly schemas: Readonly<
      Record<string, { readonly properties?: object; readonly required?: readonly string[] }>
    >;
  };
}

export const DOCUMENT_PATH = 'src/openapi/openapi.json';

export const document: OpenApiDocument = JSON.parse(readFileSync(DOCUMENT_PATH, 'utf8'));

/** The operation of a path; a test that asks for one that is not described fails. */
export function operationAt(path: string, method: string): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  return operation;
}

/** The operation that the merchant implements. */
export function callbackOperation(): Operation {
  const operation = document.webhooks['paymentStatusChanged']?.['post'];
  if (operation === undefined) throw new Error('the callback is not in the document');
  return operation;
}

/** The header parameters of an operation. */
export function headersOf({ parameters = [] }: Operation): readonly HeaderParameter[] {
  return parameters.map(({ $ref }) => {
    const name = $ref.replace('#/components/parameters/', '');
    const parameter = document.components.parameters[name];
    if (parameter?.in !== 'header') throw new Error(`${$ref} is not a header of the document`);
    return parameter;
  });
}
