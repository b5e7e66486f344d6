import type { FeedEntry } from './feed-entries.js';
import { toHash } from './route.js';
import { Card } from './section.js';
import { Time } from './time.js';

/** Events as they happen. Not a live region: the page announces callbacks already. */
export function Feed({ entries }: { entries: readonly FeedEntry[] }) {
  return (
    <Card title="Live feed" class="feed">
      {entries.length === 0 ? (
        <p class="muted">Nothing has happened yet.</p>
      ) : (
        <ol>
          {entries.map((entry) => (
            <li key={entry.key}>
              <Entry entry={entry} />
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Entry({ entry: { referenceNumber, sign, tone, title, text, at } }: { entry: FeedEntry }) {
  const href = toHash(
    referenceNumber === undefined ? { view: 'requests' } : { view: 'payments', referenceNumber },
  );
  return (
    <a href={href} class="feed-row">
      <span class={`${tone}-text feed-sign`} aria-hidden="true">
        {sign}
      </span>
      <span class="feed-text">
        <bdi class="feed-title">{title}</bdi> <bdi>{text}</bdi>
      </span>
      <Time at={at} />
    </a>
  );
}
