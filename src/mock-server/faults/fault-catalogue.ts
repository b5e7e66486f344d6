import { LONGEST_TIMER_MS } from '../../protocol/options.js';

/** A parameter of a fault, required if it has no default. The first of several choices is the default. */
export type FaultParameter =
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
export type FaultEntry = {
  /** What happens, in a few words, starting in lower case. */
  readonly text: string;
  readonly parameters?: Readonly<Record<string, FaultParameter>>;
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
    }
);

const creates = { on: 'request', creates: true } as const;
const refuses = { on: 'request', creates: false } as const;
const on = 'callback';

const delay = {
  delayMs: {
    kind: 'number',
    label: 'Delay in milliseconds',
    min: 0,
    max: LONGEST_TIMER_MS,
    unit: 'milliseconds',
  },
} as const;

const status = <const Default extends number>(min: number, max: number, value: Default) =>
  ({ kind: 'number', label: 'HTTP status', min, max, default: value }) as const;

const entries = {
  delay: { ...creates, text: 'waits, then creates the payment and answers', parameters: delay },
  'late-answer': {
    ...creates,
    text: 'creates the payment at once, then waits and answers',
    parameters: delay,
  },
  unauthorized: { ...refuses, text: 'answers 401 to any credentials' },
  'rate-limit': {
    ...refuses,
    text: 'answers 429 with Retry-After',
    parameters: {
      retryAfterSeconds: {
        kind: 'number',
        label: 'Retry-After in seconds',
        min: 0,
        unit: 'seconds',
        default: 1,
      },
    },
  },
  'client-error': {
    ...refuses,
    text: 'answers 4xx with a body of your choice',
    parameters: {
      status: status(400, 499, 409),
      body: {
        kind: 'json',
        label: 'Body: JSON, or plain text',
        default: { code: 'REFUSED', message: 'The service refused the request.' },
      },
    },
  },
  'server-error': {
    ...refuses,
    text: 'answers 5xx with an error body',
    parameters: { status: status(500, 599, 500) },
  },
  'html-error': {
    ...refuses,
    text: "answers with a proxy's HTML page, as 502 or another status",
    parameters: { status: status(200, 599, 502) },
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
      mode: { kind: 'choice', label: 'In turn or all at once', choices: ['in-turn', 'at-once'] },
      copies: {
        kind: 'number',
        label: 'Extra copies',
        min: 1,
        max: 100,
        unit: 'copies',
        default: 1,
      },
    },
  },
  reorder: {
    on,
    text: "held until the payment's next change has been sent",
    expects: 'keep the newer status, and still ship when the older one is paid',
  },
  drop: { on, text: 'lost in transit; a retry may follow', expects: 'act on the retry' },
  'tampered-body': { on, text: 'changed after signing', expects: 'answer 401' },
  'wrong-secret': { on, text: 'signed with another secret', expects: 'answer 401' },
} as const satisfies Readonly<Record<string, FaultEntry>>;

type Entries = typeof entries;
type FaultType = keyof Entries;
type ValueOf<Parameter> = Parameter extends { kind: 'number' }
  ? number
  : Parameter extends { choices: readonly (infer Choice)[] }
    ? Choice
    : unknown;
type HasDefault = { readonly default: unknown } | { readonly choices: unknown };
type ParametersOf<All> = {
  -readonly [Name in keyof All as All[Name] extends HasDefault ? never : Name]: ValueOf<All[Name]>;
} & {
  -readonly [Name in keyof All as All[Name] extends HasDefault ? Name : never]?:
    | ValueOf<All[Name]>
    | undefined;
};

type MatchOf<Entry> = Entry extends { on: 'request' } ? RequestFaultMatch : CallbackFaultMatch;

/**
 * Something that goes wrong with a request of the merchant (`on: 'request'`) or with an attempt to deliver a callback
 * (`on: 'callback'`). At most one fault applies to each: the oldest that matches. The guide "Work with the mock" says
 * what each `type` does, what its fields are, and how your code should react.
 */
export type Fault = {
  [Type in FaultType]: {
    /** What it applies to. */
    on: Entries[Type]['on'];
    /** What happens. */
    type: Type;
    /**
     * How often it happens before it is used up: a whole number from 1, or `Infinity`.
     * @default 1
     */
    times?: number | undefined;
    /** Which requests or attempts it applies to; all if it is missing. */
    match?: MatchOf<Entries[Type]> | undefined;
  } & (Entries[Type] extends {
    /** Its fields besides. */
    parameters: infer All;
  }
    ? ParametersOf<All>
    : unknown);
}[FaultType];

/** Something that goes wrong with a request of the merchant. */
export type RequestFault = Extract<
  Fault,
  {
    /** What it applies to. */
    on: 'request';
  }
>;

/** Something that goes wrong with an attempt to deliver a callback. */
export type CallbackFault = Extract<
  Fault,
  {
    /** What it applies to. */
    on: 'callback';
  }
>;

/** Which requests a fault applies to: those that match every given field, or all if there is none. */
export interface RequestFaultMatch {
  /** The `merchantPaymentReference` in the request's body. */
  merchantPaymentReference?: string | undefined;
  /** The request's method, in capital letters. */
  method?: string | undefined;
  /** The request's path, without the query. */
  path?: string | undefined;
}

/** Which attempts a fault applies to: those that match every given field, or all if there is none. */
export interface CallbackFaultMatch {
  /** The payment's reference number. */
  referenceNumber?: string | undefined;
  /** The merchant's reference for the payment. */
  merchantPaymentReference?: string | undefined;
  /** The status the payment was set to. */
  status?: string | undefined;
  /** Number of the attempt, from 1. */
  attempt?: number | undefined;
}

/** Every fault, for the mock itself, the command line, the dashboard and the guide. */
export const faultCatalogue: {
  readonly [Type in FaultType]: FaultEntry & { readonly on: Entries[Type]['on'] };
} = entries;

export const faultTargets = ['request', 'callback'] as const;
export type FaultTarget = (typeof faultTargets)[number];

/** The fault types of a target, in the order of the catalogue. */
export const faultTypesOn = (target: FaultTarget): FaultType[] =>
  (Object.keys(entries) as FaultType[]).filter((type) => entries[type].on === target);

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

/** The default of a parameter; `undefined` when it is required. */
export const defaultOf = (parameter: FaultParameter): unknown =>
  parameter.kind === 'choice' ? parameter.choices[0] : parameter.default;
