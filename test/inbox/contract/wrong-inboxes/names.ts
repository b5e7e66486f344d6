import { createHash } from 'node:crypto';
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
  ['drops what comes after NUL', (name) => name.replace(/(?<=\0).*/s, '')],
  ['drops blanks at the end, as CHAR does', (name) => name.replace(/ +$/, '')],
  ['drops a line feed at the end', (name) => name.replace(/\n$/, '')],
  ['does not tell letters by their case', (name) => name.toLowerCase()],
  ['normalises names', (name) => name.normalize()],
  ['drops what is not ASCII', (name) => name.replaceAll(/[^\0-~]/gu, '')],
  ['drops what UTF-8 needs four bytes for', (name) => name.replaceAll(/[^\0-\uffff]/gu, '')],
  ['takes every name in braces for the same', (name) => name.replaceAll(/\{\w+\}/g, '{name}')],
  ['fills empty braces with nothing', (name) => name.replaceAll('{}', '')],
  ['drops a prefix', (name) => name.replace(/^sha256:/, '')],
  ['takes % and _ for any character', (name) => name.replaceAll(/[%_]/g, '?')],
  ['ends names at a single quote', (name) => name.split("'", 1).join()],
  ['drops double quotes', (name) => name.replaceAll('"', '')],
  ['drops backslashes', (name) => name.replaceAll('\\', '')],
  [
    'keeps odd names as digests, and other names that look like one as they are',
    (name) => (/^[!-~]*$/.test(name) ? name : `sha256:${digest(name)}`),
  ],
];

function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url');
}

// Names that a store may not keep, and so not know again.
const losses: readonly (readonly [string, (key: string) => boolean])[] = [
  ["takes the key 'null' for none", (key) => key !== 'null'],
  ["takes the key '0' for none", (key) => key !== '0'],
  [
    'sets the property of an object that has the name of the key',
    (key) => {
      const known: Record<string, true> = {};
      known[key] = true;
      return Object.hasOwn(known, key);
    },
  ],
];

export const wrongNames: readonly WrongInbox[] = [
  ...manglings.flatMap(([flaw, rename]) =>
    [
      'distinguishes payments whatever characters their references contain',
      'distinguishes the changes of a payment whatever characters their keys contain',
    ].map((caughtBy) => ({
      flaw,
      caughtBy,
      says: /must answer 'processed', but answered 'duplicate'/,
      inbox: renaming(rename),
    })),
  ),
  ...losses.map(([flaw, keeps]) => ({
    flaw,
    caughtBy: 'distinguishes the changes of a payment whatever characters their keys contain',
    says: /must answer 'duplicate', but answered 'processed'/,
    inbox: class extends RightInbox {
      protected override record(change: Change): void {
        if (keeps(change.key)) super.record(change);
      }
    },
  })),
  {
    flaw: 'takes what every object inherits, but for __proto__, for keys it knows',
    caughtBy: 'distinguishes the changes of a payment whatever characters their keys contain',
    says: /must answer 'processed', but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override check(change: Change): InboxOutcome | undefined {
        const isInherited = change.key !== '__proto__' && change.key in {};
        return isInherited ? 'duplicate' : super.check(change);
      }
    },
  },
  {
    flaw: 'does not tell the letters of references by their case when it compares times',
    caughtBy: 'distinguishes payments whatever characters their references contain',
    says: /must answer 'processed', but answered 'stale'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        const change = super.read(event);
        return { ...change, payment: change.payment.toLowerCase() };
      }
    },
  },
  {
    flaw: 'keeps payments in an object',
    caughtBy: 'accepts a reference that is a property of every object',
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
    caughtBy: 'distinguishes references and keys that are equal when joined',
    says: /must answer 'processed', but answered 'duplicate'/,
    inbox: class extends RightInbox {
      protected override read(event: InboxEvent): Change {
        return { ...super.read(event), id: [event.paymentReference, event.key].join(separator) };
      }
    },
  })),
];
