import { hash } from 'node:crypto';
import { isPlainName } from '../change.js';
import type { Page, StoredForms } from '../payment-row.js';
import type { OwnedRow, RowChange } from '../steps.js';
import type { Dialect } from './dialect.js';

export type Value = string | number | undefined;

export const COLUMNS: Readonly<Record<keyof OwnedRow, string>> = {
  body: 'body',
  digest: 'digest',
  state: 'state',
  attempts: 'attempts',
  recordedAtMs: 'recorded_at_ms',
  sentAtMs: 'sent_at_ms',
  changedAtMs: 'changed_at_ms',
  referenceNumber: 'reference_number',
  payment: 'payment',
  foundStatus: 'found_status',
  failure: 'failure',
  owner: 'owner',
  leaseUntilMs: 'lease_until_ms',
  updatedAtUs: 'payment_updated_at_us',
  paidBy: 'paid_by',
  lookAtMs: 'look_at_ms',
  order: 'order_name',
  replacedBy: 'replaced_by',
};

/** The fields of an order's row that decide about a change. */
export const ORDER_FIELDS = [
  ...(['state', 'referenceNumber', 'payment', 'updatedAtUs'] as const),
  ...(['paidBy', 'body', 'order', 'replacedBy'] as const),
];

/** Writes values into statements, quoted in this one place: an ORM accepts no parameters in a raw statement. */
export class Sql {
  readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  value(value: Value): string {
    if (value === undefined) return 'NULL';
    if (typeof value === 'number') return `${value}`;
    // Most texts are plain.
    if (!/['\\?\u0080-\uffff]/.test(value)) return `'${value}'`;
    // JSON beyond ASCII is escaped, so that it does not depend on a character set.
    return this.dialect.literal(toAsciiJson(value));
  }

  values(values: readonly Value[]): string {
    return values.map((value) => this.value(value)).join(', ');
  }

  /** A condition that columns have these values. */
  match(columns: Readonly<Record<string, Value>>): string {
    return Object.entries(columns)
      .map(([column, value]) => `${column} = ${this.value(value)}`)
      .join(' AND ');
  }

  /** Ends a SELECT that lists a page, ordered by a time and names. */
  page({ olderThanMs, after, limit }: Page, time: string, names: readonly string[]): string {
    const order = [time, ...names].join(', ');
    const isOld = olderThanMs === 0 ? '' : ` AND ${time} <= ${this.dialect.now()} - ${olderThanMs}`;
    return `${isOld}${after ? ` AND (${order}) > (${this.values([after.atMs, ...after.names])})` : ''}
ORDER BY ${order} LIMIT ${limit}`;
  }

  /** Changes a payment's row by its key, and by a further condition. */
  change(key: string, change: RowChange, condition = ''): string {
    let set = '';
    for (const name in change) {
      const field = name as keyof OwnedRow;
      set += `${COLUMNS[field]} = ${this.value(change[field])}, `;
    }
    if (change.changedAtMs === undefined) set += `changed_at_ms = ${this.dialect.now()}, `;
    return `UPDATE ${this.dialect.tables.payments} SET ${set.slice(0, -2)}
WHERE merchant_payment_reference = ${this.value(key)}${condition}`;
  }
}

/** Escapes JSON beyond ASCII, so that it does not depend on the character set of a connection or a database. */
export function toAsciiJson(json: string): string {
  return json.replaceAll(BEYOND_ASCII, toEscape);
}

const BEYOND_ASCII = /[\u0080-\uffff]/g;

function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The stored form of a reference or key: readable, or a digest where not every store could handle it. */
function toStoredName(text: string): string {
  if (isPlainName(text)) return text;
  // Not UTF-8, in which all lone surrogates have the same encoding.
  return `sha256:${hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')}`;
}

/** The key of a reference that is stored as JSON. */
export function keyOf(reference: string): string {
  return toStoredName(JSON.parse(reference));
}

/** The forms in which a database keeps texts: names of at most 128 printable ASCII characters, and short digests. */
export const databaseForms: StoredForms = {
  toName: toStoredName,
  toDigest: (body) => hash('sha256', body, 'base64url'),
};
