import { useId } from 'preact/hooks';
import type { ControlDelivery, ControlPayment } from '../../control/control-types.js';
import { ActionStatus, Button, useAction } from './action.js';
import { Attempt } from './attempt.js';
import { control } from './control-client.js';
import {
  deliveryStates,
  describeNextRetry,
  describeResult,
  mergeTimeline,
} from './delivery-text.js';
import { MAX_DELIVERIES } from './live-data.js';
import { Badge, StatusBadge } from './text.js';
import { serviceClock, Time } from './time.js';

interface TimelineProps {
  readonly payment: ControlPayment;
  readonly deliveries: readonly ControlDelivery[];
  readonly canAdvanceClock: boolean;
}

export function Timeline({ payment, deliveries, canAdvanceClock }: TimelineProps) {
  return (
    <section aria-labelledby="timeline-title">
      <h3 id="timeline-title">Timeline</h3>
      <ol class="timeline">
        {mergeTimeline(payment, deliveries).map((entry) =>
          entry.kind === 'delivery' ? (
            <li key={entry.delivery.id} class="entry delivery">
              <Delivery {...entry} canAdvanceClock={canAdvanceClock} />
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

interface DeliveryProps {
  readonly delivery: ControlDelivery;
  /** Whether an earlier delivery was for the same change. */
  readonly isResend: boolean;
  readonly canAdvanceClock: boolean;
}

function Delivery({ delivery, isResend, canAdvanceClock }: DeliveryProps) {
  const titleId = useId();
  const action = useAction();
  const { id, status, state, attempts, edited } = delivery;
  const { label, tone, sign, sentence } = deliveryStates[state];
  const nextRetryAt = state === 'retrying' ? attempts.at(-1)?.nextRetryAt : undefined;

  const resend = () =>
    void action.run(async () => describeResult(await control.resendDelivery(id)));
  const advance = (dueAt: string) =>
    void action.run(async () => {
      const leftMs = Math.ceil(Date.parse(dueAt) - serviceClock.now());
      await control.advanceClock(Math.max(0, leftMs));
      return 'The clock was advanced; the attempt was made.';
    });

  return (
    <>
      <div class="entry-head">
        <h4 id={titleId}>
          Callback <StatusBadge status={status} />
          {isResend && <span class="muted"> resent</span>}
          {edited !== undefined && (
            <span class="muted">, edited{edited === 'kept' && ' after signing'}</span>
          )}
        </h4>
        <Badge text={label} tone={tone} sign={sign} />
        <Button isSmall action={action} describedBy={titleId} onClick={resend}>
          Resend this
        </Button>
      </div>
      <p class="muted">
        {sentence}{' '}
        {nextRetryAt !== undefined && (
          <strong>
            <Time at={nextRetryAt} write={describeNextRetry} />
          </strong>
        )}
      </p>
      {nextRetryAt !== undefined && canAdvanceClock && (
        <Button action={action} onClick={() => advance(nextRetryAt)}>
          Advance the clock to it
        </Button>
      )}
      <ActionStatus action={action} />
      {attempts.length > 0 && (
        <ol class="attempts">
          {attempts.map((attempt) => (
            <li key={attempt.id}>
              <Attempt attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
