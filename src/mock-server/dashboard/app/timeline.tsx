import { useId } from 'preact/hooks';
import type { ControlDelivery, ControlPaymentDetail } from '../../control/control-types.js';
import { Attempt } from './attempt.js';
import { control } from './control-client.js';
import { ActionStatus, Button, useAction } from './controls.js';
import {
  deliveryStates,
  describeNextRetry,
  describeResult,
  mergeTimeline,
  type TimelineEntry,
  telling,
} from './delivery-text.js';
import { Request } from './requests-view.js';
import { MAX_DELIVERIES } from './state.js';
import { Badge, StatusBadge } from './texts.js';
import { serviceNow, Time } from './time.js';

interface TimelineProps {
  readonly detail: ControlPaymentDetail;
  readonly canAdvanceClock: boolean;
}

/** The story of a payment, newest first: it ends at the request that created the payment. */
export function Timeline({ detail, canAdvanceClock }: TimelineProps) {
  const { payment, deliveries, requests } = detail;
  const opened = telling(deliveries);
  // Those of another payment for the same reference are in that one's timeline.
  const own = requests.filter(
    ({ referenceNumber = payment.referenceNumber }) => referenceNumber === payment.referenceNumber,
  );
  const show = (entry: TimelineEntry) => {
    if (entry.kind === 'delivery') {
      return (
        <li key={entry.delivery.id} class="entry delivery">
          <Delivery {...entry} canAdvanceClock={canAdvanceClock} opened={opened} />
        </li>
      );
    }
    if (entry.kind === 'request') {
      return (
        <li key={entry.request.requestId} class="entry">
          <Request request={entry.request} isLinked={false} />
        </li>
      );
    }
    return (
      <li key={`change ${entry.change.at}`} class="entry change">
        <p>
          {entry.isFirst ? 'Created with status' : 'Status set to'}{' '}
          <StatusBadge status={entry.change.status} />
        </p>
        <Time at={entry.change.at} />
      </li>
    );
  };
  return (
    <section aria-labelledby="timeline-title">
      <h3 id="timeline-title">Timeline</h3>
      <ol class="timeline">{mergeTimeline({ payment, deliveries, requests: own }).map(show)}</ol>
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
  /** The attempt that is open from the start. */
  readonly opened: string | undefined;
}

function Delivery({ delivery, isResend, canAdvanceClock, opened }: DeliveryProps) {
  const titleId = useId();
  const action = useAction();
  const { id, status, state, attempts, edited } = delivery;
  const { sentence, ...badge } = deliveryStates[state];
  const nextRetryAt = state === 'retrying' ? attempts.at(-1)?.nextRetryAt : undefined;

  const resend = () => void action.run(() => control.resendDelivery(id), describeResult);
  const advance = (dueAt: string) => {
    const leftMs = Math.ceil(Date.parse(dueAt) - serviceNow());
    void action.run(
      () => control.advanceClock(Math.max(0, leftMs)),
      () => 'The clock was advanced; the attempt was made.',
    );
  };

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
        <Badge {...badge} />
        {nextRetryAt === undefined ? (
          <span class="muted">{sentence}</span>
        ) : (
          <strong>
            <Time at={nextRetryAt} write={describeNextRetry} />
          </strong>
        )}
        <span class="entry-actions">
          {nextRetryAt !== undefined && canAdvanceClock && (
            <Button isSmall action={action} onClick={() => advance(nextRetryAt)}>
              Advance the clock to it
            </Button>
          )}
          <Button isSmall action={action} describedBy={titleId} onClick={resend}>
            Resend this
          </Button>
        </span>
      </div>
      <ActionStatus action={action} />
      {attempts.length > 0 && (
        <ol class="attempts">
          {[...attempts].reverse().map((attempt) => (
            <li key={attempt.id}>
              <Attempt attempt={attempt} isOpen={attempt.id === opened} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
