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

const number = (label: string, range: { min: number; max?: number; unit?: string }) =>
  ({ kind: 'number', label, ...range }) as const;
const text = (label: string, value: string) => ({ kind: 'text', label, default: value }) as const;
const json = (label: string, value: unknown) => ({ kind: 'json', label, default: value }) as const;
const delayMs = number('Delay in milliseconds', {
  min: 0,
  max: LONGEST_TIMER_MS,
  unit: 'milliseconds',
});

// A century keeps every X-Timestamp within what a Date holds.
const bySeconds: FaultParameter = {
  ...number('Offset in seconds', { min: 1, max: 3_155_760_000, unit: 'seconds' }),
  default: 600,
};

const entries = {
  delay: {
    on: 'request',
    text: 'waits, then creates the payment and answers',
    creates: true,
    parameters: { delayMs },
  },
  'late-answer': {
    on: 'request',
    text: 'creates the payment at once, then waits and answers',
    creates: true,
    parameters: { delayMs },
  },
  unauthorized: { on: 'request', text: 'answers 401 to any credentials', creates: false },
  'rate-limit': {
    on: 'request',
    text: 'answers 429 with Retry-After',
    creates: false,
    parameters: {
      retryAfterSeconds: {
        ...number('Retry-After in seconds', { min: 0, unit: 'seconds' }),
        default: 1,
      },
    },
  },
  'client-error': {
    on: 'request',
    text: 'answers 4xx with a body of your choice',
    creates: false,
    parameters: {
      status: { ...number('HTTP status', { min: 400, max: 499 }), default: 409 },
      body: json('Body: JSON, or plain text', {
        code: 'REFUSED',
        message: 'The service refused the request.',
      }),
    },
  },
  'server-error': {
    on: 'request',
    text: 'answers 5xx with an error body',
    creates: false,
    parameters: {
      status: { ...number('HTTP status', { min: 500, max: 599 }), default: 500 },
    },
  },
  'html-error': { on: 'request', text: "answers 502 with a proxy's HTML page", creates: false },
  'malformed-json': { on: 'request', text: 'answers 201 with broken JSON', creates: true },
  'truncated-body': { on: 'request', text: 'answers 201 with half of the body', creates: true },
  'empty-body': { on: 'request', text: 'answers 201 without a body', creates: true },
  'reset-in-body': {
    on: 'request',
    text: 'answers 201, then resets the connection',
    creates: true,
  },
  'reset-before-headers': { on: 'request', text: 'resets the connection', creates: false },
  'lost-answer': {
    on: 'request',
    text: 'creates the payment, then resets the connection',
    creates: true,
  },
  hang: { on: 'request', text: 'never answers', creates: false },
  duplicate: {
    on: 'callback',
    text: 'sent several times, byte for byte',
    expects: 'act once',
    parameters: {
      mode: { kind: 'choice', label: 'In turn or all at once', choices: ['in-turn', 'at-once'] },
      copies: {
        ...number('Extra copies', { min: 1, max: 100, unit: 'copies' }),
        default: 1,
      },
    },
  },
  reorder: {
    on: 'callback',
    text: "held until the payment's next change has been sent",
    expects: 'keep the newer status, and still ship when the older one is paid',
  },
  drop: {
    on: 'callback',
    text: 'lost in transit, then retried',
    expects: 'act on the retry',
  },
  'late-callback': {
    on: 'callback',
    text: 'sent late',
    expects: 'act on it',
    parameters: { delayMs: { ...delayMs, default: 1_000 } },
  },
  'stale-timestamp': {
    on: 'callback',
    text: 'signed with a time in the past',
    expects: 'answer 401',
    refusal: 'may',
    parameters: { bySeconds },
  },
  'future-timestamp': {
    on: 'callback',
    text: 'signed with a time in the future',
    expects: 'answer 401',
    refusal: 'may',
    parameters: { bySeconds },
  },
  'tampered-body': {
    on: 'callback',
    text: 'changed after signing',
    expects: 'answer 401',
    refusal: 'must',
  },
  'wrong-secret': {
    on: 'callback',
    text: 'signed with another secret',
    expects: 'answer 401',
    refusal: 'must',
  },
  'missing-header': {
    on: 'callback',
    text: 'sent without one of its headers',
    expects: 'answer 401 without x-signature or x-timestamp',
    refusal: 'may',
    parameters: {
      header: {
        kind: 'choice',
        label: 'Missing header',
        choices: ['x-signature', 'x-timestamp', 'content-type'],
      },
    },
  },
  'reserialized-body': {
    on: 'callback',
    text: 'the same JSON in other bytes',
    expects: 'answer 401',
    refusal: 'must',
  },
  'unknown-status': {
    on: 'callback',
    text: 'sent with a status that your code does not know',
    expects: 'accept it without acting on it',
    parameters: { status: text('Status to send', 'mock_unknown_status') },
  },
  'extra-field': {
    on: 'callback',
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
