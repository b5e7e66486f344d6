import { isDateTime } from '../../protocol/payment.js';
import {
  type Placeholder,
  type ProfiledAnswer,
  placeholder,
  type ServiceProfile,
} from '../../protocol/service-profile.js';

/** An answer to a probe. */
export interface ReceivedAnswer {
  readonly status: number;
  /** The media type, in lower case. */
  readonly contentType: string | undefined;
  /** Parsed if it is JSON, otherwise text. */
  readonly body: unknown;
  readonly isJson: boolean;
  /** The fields that were sent. */
  readonly sent: Readonly<Record<string, unknown>>;
}

/** What identifies a value of an answer. */
interface KnownValues extends Pick<ReceivedAnswer, 'sent'> {
  /** The path of the payment's identifier, as learned from callbacks. */
  readonly identifierPath: string | undefined;
}

const MAX_DEPTH = 8;
const MAX_FIELDS = 100;
const MAX_ENTRIES = 10;

/** Describes an answer without its values, which may be secret or personal. */
export function describeAnswer(
  { status, contentType, body, isJson, sent }: ReceivedAnswer,
  identifierPath?: string,
): ProfiledAnswer {
  const known = { sent, identifierPath: status < 400 ? identifierPath : undefined };
  const described = isJson ? templateOf(body, '', known) : placeholder('text');
  return {
    status,
    ...(contentType !== undefined && { contentType }),
    ...(body !== '' && { body: described }),
  };
}

// A longer or unusual name may be data, such as an e-mail address or an account number.
const PLAIN_NAME = /^(?!.*\d{5})[A-Za-z_$][\w$-]{0,39}$/;

function templateOf(value: unknown, path: string, known: KnownValues): unknown {
  if (typeof value === 'string') return describeText(value, path, known);
  if (typeof value === 'number') {
    if (value === known.sent['amount']) return placeholder('amount');
    return isEnumeration(path) && isCode(String(value)) ? value : placeholder('number');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (path.split('/').length > MAX_DEPTH) return placeholder('text');
  if (Array.isArray(value)) {
    return value
      .slice(0, MAX_ENTRIES)
      .map((one, index) => templateOf(one, `${path}/${index}`, known));
  }
  const fields = Object.entries(value).filter(([name]) => PLAIN_NAME.test(name));
  return Object.fromEntries(
    fields
      .slice(0, MAX_FIELDS)
      .map(([name, field]) => [name, templateOf(field, `${path}/${name}`, known)]),
  );
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function describeText(text: string, path: string, known: KnownValues): string {
  const found = text === '' ? undefined : findPlaceholder(text, path, known);
  if (found !== undefined) return placeholder(found);
  if (text === '' || (isEnumeration(path) && isCode(text))) return text;
  return placeholder('text');
}

function findPlaceholder(
  text: string,
  path: string,
  { sent, identifierPath }: KnownValues,
): Placeholder | undefined {
  if (path === identifierPath || path.endsWith('/referenceNumber')) return 'referenceNumber';
  if (path.endsWith('/providerReference')) return 'providerReference';
  if (text === sent['merchantPaymentReference']) return 'merchantPaymentReference';
  if (text === sent['currency']) return 'currency';
  if (isDateTime(text)) return 'dateTime';
  if (UUID.test(text)) return 'uuid';
  return /^https?:\/\//i.test(text) ? 'url' : undefined;
}

/**
 * Whether a field is the payment's status or the error's code, on which code may depend. The same name elsewhere may be
 * personal, as in `address.state` or `postal_code`.
 */
const isEnumeration = (path: string): boolean =>
  /^(?:\/(?:data|payment|error|errors\/\d))?\/(?:(?:payment_?)?(?:status|state)|(?:error_?)?code)$/i.test(
    path,
  );

/** Whether a value can be a status or a code: a word, or a short number, and not one of an account. */
const isCode = (text: string): boolean =>
  text.length <= 64 &&
  !/\d{5}/.test(text) &&
  /^(?:\d+|[A-Za-z]+\d*(?:[_.-][A-Za-z\d]+)*)$/.test(text);

/** Returns the path at which an answer has one of these reference numbers. */
export function findPath(body: unknown, numbers: ReadonlySet<string>): string | undefined {
  return listTexts(body).find(([, text]) => numbers.has(text))?.[0];
}

/** Returns the identifier of the payment in the answer to its creation. */
export function identifierIn(body: unknown, path = '/referenceNumber'): string | undefined {
  return listTexts(body).find(([one, text]) => one.endsWith(path) && text !== '')?.[1];
}

function listTexts(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null || path.split('/').length > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, field]) => listTexts(field, `${path}/${name}`));
}

/** A point where the service no longer matches a profile. */
export interface Drift {
  /** The path in the profile, for example `creation.status`. */
  readonly point: string;
  /** The value in the profile, if it has one. */
  readonly before?: unknown;
  /** The value seen now. */
  readonly now?: unknown;
}

/** Returns what has changed since a profile was made, among the points that both runs have learned. */
export function findDrift(before: ServiceProfile, now: ServiceProfile): readonly Drift[] {
  // Only callbacks show which field identifies a payment.
  const hasCallbacks = [before, now].every(({ callbacks }) => Object.keys(callbacks).length > 0);
  const isSame = (one: unknown, other: unknown): boolean =>
    one === other || (!hasCallbacks && [one, other].every((value) => identifiers.includes(value)));
  const recent = learned(now);
  return Object.entries(learned(before)).flatMap(([name, value]) => {
    const other = recent[name];
    if (value === undefined || other === undefined) return [];
    const [was, is] = [new Map(listValues(value, name)), new Map(listValues(other, name))];
    return [...new Set([...was.keys(), ...is.keys()])]
      .filter((point) => !isSame(was.get(point), is.get(point)))
      .map((point) => ({ point, before: was.get(point), now: is.get(point) }));
  });
}

const identifiers: readonly unknown[] = [
  placeholder('referenceNumber'),
  placeholder('uuid'),
  placeholder('text'),
];

/** What a profile has learned, by name. */
function learned(profile: ServiceProfile): Readonly<Record<string, unknown>> {
  const { creation, repeatedReference, invalid, callbacks } = profile;
  const named = (group: string, points: object) =>
    Object.fromEntries(Object.entries(points).map(([name, value]) => [`${group}.${name}`, value]));
  return {
    creation,
    repeatedReference,
    ...named('invalid', invalid),
    ...named('callbacks', callbacks),
  };
}

/** Lists every value below a path. */
function listValues(value: unknown, path: string): [point: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  if (fields.length === 0) return [[path, JSON.stringify(value)]];
  return fields.flatMap(([name, field]) => listValues(field, `${path}.${name}`));
}
