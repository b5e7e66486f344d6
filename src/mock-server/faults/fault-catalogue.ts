import { LONGEST_TIMER_MS } from '../../protocol/options.js';
import type { CallbackFaultMatch, Fault, RequestFaultMatch } from './fault.js';

/** A parameter of a fault, required if it has no default. The first of several choices is the default. */
export type FaultParameter =
  | { readonly kind: 'text'; readonly label: string; readonly default: string }
  | { readonly kind: 'json'; readonly label: string; readonly default: unknown }
  | { readonly kind: 'choice'; readonly label: string; readonly choices: readonly string[] }
  | {
      readonly kind: 'number';
      readonly label: string;
      readonly min: number;
      readonly max?: number;
      readonly unit?: string;
      readonly default?: number;
    };

/** Everything about a type of fault except its behaviour, which is in api/ or callbacks/. */
export type FaultEntry = Description & {
  readonly parameters?: Readonly<Record<string, FaultParameter>> | undefined;
};

type Description = {
  /** What happens, in a few words, starting in lower case. */
  readonly text: string;
} & (
  | {
      readonly on: 'request';
      /** Whether a payment is created nevertheless. */
      readonly creates: boolean;
    }
  | {
      readonly on: 'callback';
      /** What the merchant's endpoint should do. */
      readonly expects: string;
      /** `must`: every endpoint has to refuse it. `may`: it depends on the endpoint's settings. */
      readonly refusal?: 'must' | 'may';
    }
);

type FaultOf<Type> = Fault extends infer Each
  ? Each extends { type: infer Types }
    ? Type extends Types
      ? Each
      : never
    : never
  : never;
type OwnParameter<Type> = Exclude<keyof FaultOf<Type>, 'on' | 'type' | 'times' | 'match'>;
type Parameter<Kind> = Extract<FaultParameter, { kind: Kind }>;
/** What the catalogue must say of a parameter with these values. */
type ParameterOf<Value> = unknown extends Value
  ? Parameter<'json'>
  : [Value] extends [number]
    ? Parameter<'number'>
    : string extends Value
      ? Parameter<'text'>
      : Parameter<'choice'> & { readonly choices: readonly Value[] };
type ParametersOf<Type> = {
  readonly [Name in OwnParameter<Type>]-?: ParameterOf<Exclude<FaultOf<Type>[Name], undefined>>;
};
/**
 * An entry for each type with all its parameters, of which the schema of the fault is made: one that is missing,
 * superfluous or of another kind does not compile.
 */
export type FaultEntries = {
  readonly [Type in Fault['type']]: Description & {
    readonly on: FaultOf<Type>['on'];
  } & ([OwnParameter<Type>] extends [never]
      ? { readonly parameters?: undefined }
      : { readonly parameters: ParametersOf<Type> });
};

const number = (
  label: string,
  range: { min: number; max?: number; unit?: string },
  value?: number,
) => ({ kind: 'number', label, ...range, ...(value !== undefined && { default: value }) }) as const;
const text = (label: string, value: string) => ({ kind: 'text', label, default: value }) as const;
const json = (label: string, value: unknown) => ({ kind: 'json', label, default: value }) as const;
const choice = <const Choices extends readonly string[]>(label: string, ...choices: Choices) =>
  ({ kind: 'choice', label, choices }) as const;

const milliseconds = { min: 0, max: LONGEST_TIMER_MS, unit: 'milliseconds' };
const delayMs = number('Delay in milliseconds', milliseconds);
// A century keeps every X-Timestamp within what a Date holds.
const bySeconds = number('Offset in seconds', { min: 1, max: 3_155_760_000, unit: 'seconds' }, 600);

const on = 'callback';
const creates = { on: 'request', creates: true } as const;
const refuses = { on: 'request', creates: false } as const;
const refused = { on, expects: 'answer 401' } as const;

const entries = {
  delay: {
    ...creates,
    text: 'waits, then creates the payment and answers',
    parameters: { delayMs },
  },
  'late-answer': {
    ...creates,
    text: 'creates the payment at once, then waits and answers',
    parameters: { delayMs },
  },
  unauthorized: { ...refuses, text: 'answers 401 to any credentials' },
  'rate-limit': {
    ...refuses,
    text: 'answers 429 with Retry-After',
    parameters: {
      retryAfterSeconds: number('Retry-After in seconds', { min: 0, unit: 'seconds' }, 1),
    },
  },
  'client-error': {
    ...refuses,
    text: 'answers 4xx with a body of your choice',
    parameters: {
      status: number('HTTP status', { min: 400, max: 499 }, 409),
      body: json('Body: JSON, or plain text', {
        code: 'REFUSED',
        message: 'The service refused the request.',
      }),
    },
  },
  'server-error': {
    ...refuses,
    text: 'answers 5xx with an error body',
    parameters: { status: number('HTTP status', { min: 500, max: 599 }, 500) },
  },
  'html-error': {
    ...refuses,
    text: "answers with a proxy's HTML page, as 502 or another status",
    parameters: { status: number('HTTP status', { min: 200, max: 599 }, 502) },
  },
  'malformed-json': { ...creates, text: 'answers 201 with broken JSON' },
  'truncated-body': { ...creates, text: 'answers 201 with half of the body' },
  'empty-body': { ...creates, text: 'answers 201 without a body' },
  'reset-in-body': { ...creates, text: 'answers 201, then resets the connection' },
  'reset-before-headers': { ...refuses, text: 'resets the connection' },
  'lost-answer': { ...creates, text: 'creates the payment, then resets the connection' },
  hang: { ...refuses, text: 'never answers' },
  duplicate: {
    on,
    text: 'sent several times, byte for byte',
    expects: 'act once',
    parameters: {
      mode: choice('In turn or all at once', 'in-turn', 'at-once'),
      copies: number('Extra copies', { min: 1, max: 100, unit: 'copies' }, 1),
    },
  },
  reorder: {
    on,
    text: "held until the payment's next change has been sent",
    expects: 'keep the newer status, and still ship when the older one is paid',
  },
  drop: { on, text: 'lost in transit; a retry may follow', expects: 'act on the retry' },
  'late-callback': {
    on,
    text: 'sent late',
    expects: 'act on it',
    parameters: { delayMs: number('Delay in milliseconds', milliseconds, 1_000) },
  },
  'stale-timestamp': {
    ...refused,
    text: 'signed with a time in the past',
    refusal: 'may',
    parameters: { bySeconds },
  },
  'future-timestamp': {
    ...refused,
    text: 'signed with a time in the future',
    refusal: 'may',
    parameters: { bySeconds },
  },
  'tampered-body': { ...refused, text: 'changed after signing', refusal: 'must' },
  'wrong-secret': { ...refused, text: 'signed with another secret', refusal: 'must' },
  'missing-header': {
    on,
    text: 'sent without one of its headers',
    expects: 'answer 401 without x-signature or x-timestamp',
    refusal: 'may',
    parameters: {
      header: choice('Missing header', 'x-signature', 'x-timestamp', 'content-type'),
    },
  },
  'reserialized-body': { ...refused, text: 'the same JSON in other bytes', refusal: 'must' },
  'unknown-status': {
    on,
    text: 'sent with a status that your code does not know',
    expects: 'accept it without acting on it',
    parameters: { status: text('Status to send', 'mock_unknown_status') },
  },
  'missing-field': {
    on,
    text: 'sent without a field by which nothing is decided',
    expects: 'accept it',
    parameters: {
      field: choice('Missing field', 'providerReference', 'createdAt'),
      as: choice('Left out or null', 'left-out', 'null'),
    },
  },
  'extra-field': {
    on,
    text: 'sent with a field that the interface does not document',
    expects: 'accept it',
    parameters: {
      field: text('Name of the field', 'mockExtraField'),
      value: json('Value: JSON, or plain text', 'added by the mock service'),
    },
  },
} satisfies FaultEntries;

/** Every fault, for the mock itself, the command line, the dashboard and the guide. */
export const faultCatalogue: {
  readonly [Type in Fault['type']]: FaultEntry & { readonly on: FaultOf<Type>['on'] };
} = entries;

/** What a fault can apply to. */
export const faultTargets = ['request', 'callback'] as const;
export type FaultTarget = (typeof faultTargets)[number];

/** Returns the fault types of a target, in the order of the catalogue. */
export function faultTypesOn(target: FaultTarget): Fault['type'][] {
  const types = Object.keys(faultCatalogue) as Fault['type'][];
  return types.filter((type) => faultCatalogue[type].on === target);
}

/** The fields that select what a fault applies to, all optional. */
export const matchFields: {
  readonly request: Readonly<Record<keyof RequestFaultMatch, 'text' | 'number'>>;
  readonly callback: Readonly<Record<keyof CallbackFaultMatch, 'text' | 'number'>>;
} = {
  request: { merchantPaymentReference: 'text', method: 'text', path: 'text' },
  callback: {
    referenceNumber: 'text',
    merchantPaymentReference: 'text',
    status: 'text',
    attempt: 'number',
  },
};

/** Returns the default of a parameter; `undefined` when it is required. */
export function defaultOf(parameter: FaultParameter): unknown {
  return parameter.kind === 'choice' ? parameter.choices[0] : parameter.default;
}
