import type { ControlCallback, ControlState } from '../../control/control-types.js';
import { CallbackState, describeLast, ResendGroup, ResendOne } from './callback-results.js';
import { writeCount } from './format.js';
import { callbackGroupLabels, groupNames, toHash } from './route.js';
import { Card } from './section.js';
import { StatusBadge } from './text.js';

/** As many as fit without scrolling. */
const SHOWN_FAILURES = 6;

interface OverviewProps {
  readonly service: ControlState;
  readonly failures: readonly ControlCallback[] | undefined;
}

/** Shown while no payment is open: how many callbacks each group has, and those that failed. */
export function Overview({ service, failures = [] }: OverviewProps) {
  const { callbacks } = service.counts;
  return (
    <section class="overview" aria-labelledby="overview-title">
      <h2 id="overview-title">Overview</h2>
      <ul class="tiles">
        {groupNames.map((group) => (
          <li key={group}>
            <a
              class={group === 'failed' && callbacks.failed > 0 ? 'tile has-failures' : 'tile'}
              href={toHash({ view: 'callbacks', group })}
            >
              <strong>{writeCount(callbacks[group])}</strong>
              <span>
                {callbackGroupLabels[group]}
                <span class="visually-hidden"> callbacks</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {failures.length > 0 ? (
        <Card
          title="Failed callbacks"
          class="attention"
          actions={<ResendGroup group="failed" count={callbacks.failed} />}
        >
          <ul class="failures">
            {failures.slice(0, SHOWN_FAILURES).map((callback) => (
              <li key={callback.id}>
                <CallbackState callback={callback} />
                <a href={toHash({ view: 'payments', referenceNumber: callback.referenceNumber })}>
                  <bdi>{callback.merchantPaymentReference}</bdi>
                </a>
                <StatusBadge status={callback.status} />
                <span class="bad-text">{describeLast(callback)}</span>
                <ResendOne callback={callback} />
              </li>
            ))}
          </ul>
          {callbacks.failed > SHOWN_FAILURES && (
            <a href={toHash({ view: 'callbacks', group: 'failed' })}>
              All {writeCount(callbacks.failed)} failed callbacks
            </a>
          )}
        </Card>
      ) : (
        <p class="calm">
          <span aria-hidden="true">✓ </span>No callback has failed. Choose a payment to see its
          callbacks and every attempt to deliver them.
        </p>
      )}
      <Dropped dropped={service.dropped} />
    </section>
  );
}

const droppedNames = {
  payments: 'payments',
  requests: 'requests',
  deliveries: 'delivery attempts',
  callbacks: 'callbacks',
} as const;

/** Shown when the mock has reached a limit, as that explains what is missing. */
function Dropped({ dropped }: Pick<ControlState, 'dropped'>) {
  const kinds = Object.keys(droppedNames) as (keyof typeof droppedNames)[];
  const counts = kinds
    .filter((kind) => dropped[kind] > 0)
    .map((kind) => `${writeCount(dropped[kind])} ${droppedNames[kind]}`);
  if (counts.length === 0) return null;
  return (
    <p class="muted">
      The mock has reached a limit and dropped the oldest: {counts.join(', ')}. Reset it to start
      again.
    </p>
  );
}
