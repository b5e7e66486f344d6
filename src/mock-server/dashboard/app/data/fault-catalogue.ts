import type { ControlFault } from '../../../control/control-types.js';
import type { CallbackFaultType, RequestFaultType } from '../../../faults/fault-types.js';

/** A field a type of fault has of its own, as the form asks for it. */
export interface FaultField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'number' | 'text' | 'json' | 'choice';
  /** What happens when it is left empty. */
  readonly default?: string;
  readonly choices?: readonly string[];
}

export interface FaultEntry {
  /** What goes wrong, in a line. */
  readonly line: string;
  readonly fields: readonly FaultField[];
}

const bySeconds: FaultField = {
  name: 'bySeconds',
  label: 'By how many seconds',
  kind: 'number',
  default: '600',
};

export const requestFaults: Readonly<Record<RequestFaultType, FaultEntry>> = {
  delay: {
    line: 'The request is handled as usual, but later.',
    fields: [{ name: 'delayMs', label: 'Delay in milliseconds', kind: 'number' }],
  },
  unauthorized: {
    line: '401 INVALID_CREDENTIALS, whatever the credentials are. Nothing is created.',
    fields: [],
  },
  'rate-limit': {
    line: '429 with Retry-After. Nothing is created.',
    fields: [
      { name: 'retryAfterSeconds', label: 'Retry-After in seconds', kind: 'number', default: '1' },
    ],
  },
  'server-error': {
    line: 'A 5xx with an error body. Nothing is created, though no client can know.',
    fields: [{ name: 'status', label: 'HTTP status, 500 to 599', kind: 'number', default: '500' }],
  },
  'html-error': {
    line: '502 with an HTML page, as a proxy writes it. Nothing is created.',
    fields: [],
  },
  'malformed-json': {
    line: 'The payment is created; the answer’s JSON lacks its last character.',
    fields: [],
  },
  'truncated-body': {
    line: 'The payment is created; the answer ends after half of its body.',
    fields: [],
  },
  'empty-body': { line: 'The payment is created; the answer has no body.', fields: [] },
  'reset-before-headers': {
    line: 'The connection is reset before any answer. Nothing is created.',
    fields: [],
  },
  'reset-in-body': {
    line: 'The payment is created; the connection is reset within the answer’s body.',
    fields: [],
  },
  hang: { line: 'No answer at all; the request stays open. Nothing is created.', fields: [] },
  'lost-answer': {
    line: 'The payment is created, and the answer is lost: to a client just like reset-before-headers.',
    fields: [],
  },
};

export const callbackFaults: Readonly<Record<CallbackFaultType, FaultEntry>> = {
  duplicate: {
    line: 'The same callback is sent several times, byte for byte.',
    fields: [
      {
        name: 'mode',
        label: 'One after the other, or at once',
        kind: 'choice',
        choices: ['in-turn', 'at-once'],
      },
      { name: 'copies', label: 'Copies beside the original', kind: 'number', default: '1' },
    ],
  },
  reorder: {
    line: 'Held back until the payment’s next change was delivered, so that the older one comes last.',
    fields: [],
  },
  drop: { line: 'Lost on its way: not sent, and retried on the schedule.', fields: [] },
  'stale-timestamp': {
    line: 'Correctly signed, but with a timestamp in the past.',
    fields: [bySeconds],
  },
  'future-timestamp': {
    line: 'Correctly signed, but with a timestamp in the future.',
    fields: [bySeconds],
  },
  'tampered-body': {
    line: 'The merchant reference is changed after signing, as if to have another order paid.',
    fields: [],
  },
  'wrong-secret': { line: 'Signed with a secret that is not the account’s.', fields: [] },
  'missing-header': {
    line: 'Sent without one of its headers.',
    fields: [
      {
        name: 'header',
        label: 'Header that is left out',
        kind: 'choice',
        choices: ['x-signature', 'x-timestamp', 'content-type'],
      },
    ],
  },
  'reserialized-body': {
    line: 'The same JSON with other white space, written after signing: other bytes.',
    fields: [],
  },
  'unknown-status': {
    line: 'Correctly signed, with a status your code has never heard of.',
    fields: [
      {
        name: 'status',
        label: 'Status that is sent',
        kind: 'text',
        default: 'mock_unknown_status',
      },
    ],
  },
  'extra-field': {
    line: 'Correctly signed, with a field that the interface does not show.',
    fields: [
      { name: 'field', label: 'Name of the field', kind: 'text', default: 'mockExtraField' },
      {
        name: 'value',
        label: 'Its value: JSON, or plain text',
        kind: 'json',
        default: 'added by the mock service',
      },
    ],
  },
};

export function describeFault({ on, type }: ControlFault): string {
  const entries: Readonly<Record<string, FaultEntry>> =
    on === 'request' ? requestFaults : callbackFaults;
  return entries[type]?.line ?? '';
}

/** The type of a field's value is told by its kind; what is left empty is left out. */
export function readField({ kind }: FaultField, text: string): unknown {
  if (text === '') return undefined;
  if (kind === 'number') return Number(text);
  return kind === 'json' ? parseOrKeep(text) : text;
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
