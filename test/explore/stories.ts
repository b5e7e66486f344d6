import { memoryStore } from '../../src/store/memory.js';
import { Shop, type Tale } from './shop.js';

/** Steps one after another, and what the memory store answers and shows after each. */
export interface Story {
  readonly steps: readonly string[];
  readonly seen: readonly Seen[];
}

interface Seen {
  readonly answer: unknown;
  readonly shows: unknown;
}

/** What the stories are about. Together they come to every state of an order that needs no time to pass. */
export const tales: Readonly<Record<string, Tale>> = {
  'two payments of another program': {
    foreign: 2,
    changes: ['authorized', 'paid'],
    throws: true,
    depth: 4,
  },
  'the own payment, and one of another program': {
    clicks: ['creates'],
    foreign: 2,
    changes: ['paid', 'refunded'],
    depth: 4,
  },
  'answers of the service': {
    clicks: ['creates', 'refuses', 'breaks', 'other'],
    foreign: 1,
    changes: ['paid'],
    depth: 3,
  },
  'attempts after a decline': { clicks: ['creates'], changes: ['declined', 'paid'], depth: 6 },
};

/**
 * Every step at every state that the steps of a tale lead to, each by a shortest way there.
 *
 * @param more how many steps longer they are
 */
export async function storiesOf(tale: Tale, more = 0): Promise<readonly Story[]> {
  const stories: Story[] = [];
  const known = new Set<string>();
  const waiting: Story[] = [{ steps: [], seen: [] }];
  // Grows as it is walked.
  for (const before of waiting) {
    const { shop } = await tell(before.steps);
    for (const step of await shop.steps(tale)) {
      const { shop: after, seen } = await tell([...before.steps, step]);
      const story = { steps: [...before.steps, step], seen };
      stories.push(story);
      const state = await after.state();
      if (known.has(state) || story.steps.length === tale.depth + more) continue;
      known.add(state);
      waiting.push(story);
    }
  }
  // The others are the beginnings of these.
  const begun = new Set(waiting.map(({ steps }) => steps.join()));
  return stories.filter(({ steps }) => !begun.has(steps.join()));
}

async function tell(steps: readonly string[]) {
  const options = { declined: ['declined'], now: () => 0 };
  const shop = new Shop((client) => memoryStore({ ...options, client }) as never);
  return { shop, seen: await play(shop, steps) };
}

/** Takes the steps in a shop. */
export async function play(shop: Shop, steps: readonly string[]): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (const step of steps) seen.push({ answer: await shop.take(step), shows: await shop.look() });
  return seen;
}
