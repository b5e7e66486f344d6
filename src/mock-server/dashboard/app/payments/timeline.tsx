import type { ControlDelivery, ControlPayment } from '../../../control/control-types.js';
import { mergeTimeline } from '../data/delivery-text.js';
import { MAX_DELIVERIES } from '../data/live-data.js';
import { StatusBadge } from '../parts/badge.js';
import { Time } from '../parts/time.js';
import { DeliveryEntry } from './delivery-entry.js';

interface TimelineProps {
  readonly payment: ControlPayment;
  readonly deliveries: readonly ControlDelivery[];
  readonly canAdvanceClock: boolean;
}

export function Timeline({ payment, deliveries, canAdvanceClock }: TimelineProps) {
  const entries = mergeTimeline(payment, deliveries);
  return (
    <section aria-labelledby="timeline-title">
      <h3 id="timeline-title">Timeline</h3>
      <ol class="timeline">
        {entries.map((entry) =>
          entry.kind === 'delivery' ? (
            <li key={entry.delivery.id} class="entry delivery">
              <DeliveryEntry
                delivery={entry.delivery}
                isResend={entry.isResend}
                canAdvanceClock={canAdvanceClock}
              />
            </li>
          ) : (
            <li key={`change ${entry.change.at}`} class="entry change">
              <p>
                {entry.isFirst ? 'Created with status' : 'Status set to'}{' '}
                <StatusBadge status={entry.change.status} />
              </p>
              <Time at={entry.change.at} />
            </li>
          ),
        )}
      </ol>
      {deliveries.length === MAX_DELIVERIES && (
        <p class="muted">Only the last {MAX_DELIVERIES} callbacks are shown.</p>
      )}
    </section>
  );
}
