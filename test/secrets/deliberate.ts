import type { PlantedName } from './planted.js';

export interface Exception {
  readonly shows: readonly PlantedName[];
  readonly why: string;
}

/** What shows something of what was planted on purpose. One that shows nothing any more fails. */
export const deliberate = {
  'the answer of the service': {
    shows: ['a body', 'a reference', 'the API key', 'the API secret', 'the Authorization header'],
    why: 'The answer is what the caller asked for, and is returned as received. It is in no error, log line or trace.',
  },
  'a line at warn or error': {
    shows: ['a reference'],
    why: 'A person has to look for the payment. Of a callback, the line has it once that is verified.',
  },
  'the payment of a callback': {
    shows: ['a body', 'a reference'],
    why: "It is the merchant's own order data, verified, for which the function was called.",
  },
  "the merchant's own schema": {
    shows: ['a body'],
    why: "What a recordSchema says of a record is the merchant's own text. The package's own issues never quote.",
  },
  "a signed callback's body": {
    shows: ['a body'],
    why: 'signCallback makes the body that the test is to send.',
  },
  "the mock's records": {
    shows: ['a body'],
    why: 'Payments, requests and deliveries are what a mock is looked into for: their bodies are those of tests.',
  },
} satisfies Record<string, Exception>;

export type Deliberate = keyof typeof deliberate;
