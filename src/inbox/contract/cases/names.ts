import { createHash, randomUUID } from 'node:crypto';
import type { InboxEvent } from '../../inbox.js';
import type { ContractCase } from '../case.js';
import { createPayment } from '../payment.js';
import type { Stage } from '../stage.js';

/** Names that a store may take for one another, or stumble over; each begins with `stem`. */
function oddNames(stem: string): readonly string[] {
  const accented = `${stem}\u00e9`;
  return [
    stem,
    `${stem} `,
    `${stem}A`,
    `${stem}a`,
    `${stem}{a}`,
    `${stem}{b}`,
    `${stem}{}`,
    `${stem}\u0000`,
    `${stem}\u0000a`,
    `${stem}'; --`,
    `${stem}"`,
    `${stem}\\`,
    `${stem}%`,
    `${stem}_`,
    `${stem}\n`,
    `${stem}\u{1f4b8}`,
    accented,
    accented.normalize('NFD'),
    // What a store may keep in the place of a name it does not like.
    `sha256:${createHash('sha256').update(accented).digest('base64url')}`,
    `sha256:${stem}`,
    `${stem}${'x'.repeat(5000)}`,
    `${stem}${'x'.repeat(4999)}y`,
  ];
}

/** All are processed, and each is then known. */
async function assertKeptApart(stage: Stage, events: readonly InboxEvent[]): Promise<void> {
  const [one, other] = [await stage.open(), await stage.open()];
  for (const event of events) await stage.deliver(one, event).answers('processed');
  for (const event of events) await stage.deliver(other, event).answers('duplicate');
}

/** A reference or a key is any text. */
export const nameCases: readonly ContractCase[] = [
  {
    name: 'keeps payments apart whatever their references are made of',
    run: async (stage) => {
      const key = randomUUID();
      // In falling order: references taken for one another would make stale changes.
      const events = oddNames(randomUUID()).map((reference, index) =>
        createPayment(reference)({ key, occurredAt: new Date(1e12 - index) }),
      );
      await assertKeptApart(stage, events);
    },
  },
  {
    name: 'keeps the changes of a payment apart whatever their keys are made of',
    run: async (stage) => {
      const change = createPayment();
      const keys = [...oddNames(randomUUID()), '__proto__', 'constructor', 'null', '0'];
      await assertKeptApart(
        stage,
        keys.map((key) => change({ key })),
      );
    },
  },
  {
    name: 'takes a reference that objects have a meaning for',
    run: async (stage) => {
      // It can't be random, so the store may know it from an earlier run: hence processStale.
      const change = createPayment('__proto__');
      await assertKeptApart(stage, [
        change({ processStale: true }),
        change({ processStale: true }),
      ]);
    },
  },
  {
    name: 'keeps a reference and a key apart that read the same when joined',
    run: async (stage) => {
      const stem = randomUUID();
      const events = ['', ':', '/', '|', '-', '_', ',', '.', ' ', '\u0000'].flatMap((separator) => [
        createPayment(`${stem}${separator}a`)({ key: 'b' }),
        createPayment(stem)({ key: `a${separator}b` }),
      ]);
      await assertKeptApart(stage, events);
    },
  },
];
