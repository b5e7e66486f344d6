import type { InboxEvent, InboxOutcome } from '../../../../src/inbox/inbox.js';
import { type Change, RightInbox } from '../right-inbox.js';
import type { WrongInbox } from './wrong-inbox.js';

/** Takes every name for what `rename` makes of it. */
function renaming(rename: (name: string) => string): typeof RightInbox {
  return class extends RightInbox {
    protected override read(event: InboxEvent): Change {
      const [key, paymentReference] = [rename(event.key), rename(event.paymentReference)];
      return super.read({ ...event, key, paymentReference });
    }
  };
}

const manglings: readonly (readonly [string, (name: string) => string])[] = [
  ['cuts names at 1,000 characters', (name) => name.slice(0, 1000)],
  ['ends names at NUL', (name) => name.split('\0', 1).join()],
  ['trims names', (name) => name.trim()],
  ['does not tell letters by their case', (name) => name.toLowerCase()],
  ['normalises names', (name) => name.normalize()],
  ['drops what is not ASCII', (name) => name.replaceAll(/[^\0-~]/gu, '')],
  ['drops what is in braces', (name) => name.replaceAll(/\{.*\}/g, '')],
  ['drops a prefix', (name) => name.replace(/^sha256:/, '')],
  ['takes % and _ for any character', (name) => name.replaceAll(/[%_]/g, '?')],
  ['drops quotes', (name) => name.replaceAll(/['"\\]/g, '')],
];

export const wrongNames: readonly WrongInbox[] = [
  ...manglings.flatMap(([flaw, rename]) =>
    [
      'keeps payments apart whatever their references are made of',
      'keeps the changes of a payment apart whatever their keys are made of',
    ].map((caughtBy) => ({
      flaw,
      caughtBy,
      says: /must answer 'processed', but answered 'duplicate'/,
      inbox: renaming(rename),
    })),
  ),
  {
    flaw: 'keeps payments in an object',
    caughtBy: 'takes a reference that objects have a meaning for',
    says: /must answer 'processed', but answered/,
    inbox: class extends RightInbox {
      readonly #payments: Record<string, Set<string>> = {};
      protected override check(change: Change): InboxOutcome | undefined {
        return this.#payments[change.payment] ? 'duplicate' : super.check(change);
      }
    },
  },
  ...['', ':', '/', '|'].map((separator) => ({
    flaw: `joins a reference and a key with '${separator}'`,
    caughtBy: 'keeps a reference and a key apart that read the same when joined',
    says: /must answer 'processed', but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        return { ...super.read(event), id: [event.paymentReference, event.key].join(separator) };
      }
    },
  })),
];
