import type {
  CallbackFault,
  CallbackFaultMatch,
  RequestFault,
  RequestFaultMatch,
} from 'merchant-payments/mock-server';

/** How the text of a field is read. */
export type FieldKind = 'number' | 'text' | 'json';

interface FaultEntry {
  /** What happens, in a few words. */
  readonly help: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
}

type OwnField<AnyFault, Type> = Exclude<
  keyof Extract<AnyFault, { type: Type }>,
  'on' | 'type' | 'times' | 'match'
>;
/** An entry for each type, and a kind for each field of it; the compiler keeps them complete. */
type Catalogue<AnyFault extends { type: string }> = {
  readonly [Type in AnyFault['type']]: {
    readonly help: string;
    readonly fields: Readonly<Record<OwnField<AnyFault, Type>, FieldKind>>;
  };
};

const requestFaults: Catalogue<RequestFault> = {
  delay: { help: 'answers late', fields: { delayMs: 'number' } },
  unauthorized: { help: '401 whatever the credentials', fields: {} },
  'rate-limit': { help: '429 with Retry-After', fields: { retryAfterSeconds: 'number' } },
  'server-error': { help: 'a 5xx with an error body', fields: { status: 'number' } },
  'html-error': { help: '502 with an HTML page', fields: {} },
  'malformed-json': { help: 'created; the answer is broken JSON', fields: {} },
  'truncated-body': { help: 'created; half of the answer', fields: {} },
  'empty-body': { help: 'created; an answer without a body', fields: {} },
  'reset-before-headers': { help: 'not created; connection reset', fields: {} },
  'reset-in-body': { help: 'created; reset in the answer', fields: {} },
  hang: { help: 'not created; never answers', fields: {} },
  'lost-answer': { help: 'created; reset before the answer', fields: {} },
};

const callbackFaults: Catalogue<CallbackFault> = {
  duplicate: { help: 'sent more than once', fields: { mode: 'text', copies: 'number' } },
  reorder: { help: 'kept back until the next change was sent', fields: {} },
  drop: { help: 'lost on its way, then retried', fields: {} },
  'stale-timestamp': { help: 'signed with a past time', fields: { bySeconds: 'number' } },
  'future-timestamp': { help: 'signed with a time to come', fields: { bySeconds: 'number' } },
  'tampered-body': { help: 'changed after signing', fields: {} },
  'wrong-secret': { help: 'signed with another secret', fields: {} },
  'missing-header': { help: 'without one of its headers', fields: { header: 'text' } },
  'reserialized-body': { help: 'the same JSON in other bytes', fields: {} },
  'unknown-status': { help: 'a status never heard of', fields: { status: 'text' } },
  'extra-field': { help: 'with a further field', fields: { field: 'text', value: 'json' } },
};

const requestMatch: Readonly<Record<keyof RequestFaultMatch, FieldKind>> = {
  merchantPaymentReference: 'text',
  method: 'text',
  path: 'text',
};
const callbackMatch: Readonly<Record<keyof CallbackFaultMatch, FieldKind>> = {
  referenceNumber: 'text',
  merchantPaymentReference: 'text',
  status: 'text',
  attempt: 'number',
};

/** What faults happen to. */
export const faultTargets = ['request', 'callback'] as const;
export type FaultTarget = (typeof faultTargets)[number];

/** The types of fault of a target, with their fields. */
export const faultCatalogue: Readonly<Record<FaultTarget, Readonly<Record<string, FaultEntry>>>> = {
  request: requestFaults,
  callback: callbackFaults,
};

/** What a fault can be matched by. */
export const matchFields: Readonly<Record<FaultTarget, Readonly<Record<string, FieldKind>>>> = {
  request: requestMatch,
  callback: callbackMatch,
};

/** The types of a target for the help: name, fields, what happens. */
export function describeFaults(on: FaultTarget): string[] {
  return Object.entries(faultCatalogue[on]).map(([type, { help, fields }]) => {
    const names = Object.keys(fields).join(', ');
    return `  ${type.padEnd(22)}${names.padEnd(20)}${help}`.trimEnd();
  });
}
