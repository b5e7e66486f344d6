import { useId, useState } from 'preact/hooks';
import type { ControlDelivery, ControlPaymentDetail } from '../../control/control-types.js';
import { faultTypesOn } from '../../faults/fault-catalogue.js';
import { Attempt } from './attempt.js';
import { control } from './control-client.js';
import { ActionStatus, Button, Card, Form, SelectField, TextField, useAction } from './controls.js';
import {
  deliveryStates,
  describeNextRetry,
  describeResult,
  mergeTimeline,
  type TimelineEntry,
  telling,
} from './delivery-text.js';
import { describeFault } from './faults-view.js';
import { Request } from './requests-view.js';
import { toHash } from './route.js';
import { MAX_DELIVERIES } from './state.js';
import { Badge, Body, CopyButton, StatusBadge } from './texts.js';
import { serviceNow, Time } from './time.js';

interface PaymentDetailProps {
  readonly referenceNumber: string;
  readonly detail: ControlPaymentDetail | 'missing' | undefined;
}

export function PaymentDetail({ referenceNumber, detail }: PaymentDetailProps) {
  return (
    <>
      <a class="back" href={toHash('payments')}>
        <span aria-hidden="true">←</span> All payments
      </a>
      {typeof detail === 'object' ? (
        <Loaded detail={detail} />
      ) : (
        <>
          <h2 id="payment-title">Payment</h2>
          {detail === 'missing' ? (
            <p class="empty">
              The mock has no payment <code>{referenceNumber}</code>. Perhaps it was restarted or
              reset.
            </p>
          ) : (
            <p>Loading…</p>
          )}
        </>
      )}
    </>
  );
}

interface LoadedProps {
  readonly detail: ControlPaymentDetail;
}

function Loaded(props: LoadedProps) {
  const { payment } = props.detail;
  const { referenceNumber } = payment;
  return (
    <>
      <div class="detail-head">
        <h2 id="payment-title">
          <bdi>{payment.merchantPaymentReference}</bdi>
        </h2>
        <bdi class="amount">
          {payment.amount} {payment.currency}
        </bdi>
        <StatusBadge status={payment.status} />
        <span class="number">
          <code>{referenceNumber}</code> <CopyButton label="Copy" text={referenceNumber} />
        </span>
        <a href={`pay/${encodeURIComponent(referenceNumber)}`} target="_blank" rel="noopener">
          Page to pay on
        </a>
      </div>
      <Others detail={props.detail} />
      <Actions referenceNumber={referenceNumber} />
      <Timeline {...props} />
      <Body label="Record" text={JSON.stringify(payment)} />
    </>
  );
}

/** The other payments of the same order. */
function Others({ detail: { payment, others } }: { detail: ControlPaymentDetail }) {
  if (others.length === 0) return null;
  return (
    <div class="others bad">
      <p>
        <strong>
          {payment.secondOf === undefined
            ? 'There is a second payment for this reference.'
            : 'This is a second payment: its reference had one already.'}
        </strong>{' '}
        If both are paid, the customer has paid twice.
      </p>
      <ul class="rows seconds">
        {others.map(({ referenceNumber, status, createdAt }) => (
          <li key={referenceNumber}>
            <a href={toHash('payments', referenceNumber)}>{referenceNumber}</a>
            <StatusBadge status={status} />
            <Time at={createdAt} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const AS_IT_IS = 'as it is';
const AT_ONCE = 'twice at once';
const ways = [AS_IT_IS, AT_ONCE, ...faultTypesOn('callback')];
const names = Object.fromEntries(
  faultTypesOn('callback').map((type) => [type, `with the fault ${type}`]),
);

/** What can be done with a payment, in one line. */
function Actions({ referenceNumber }: { referenceNumber: string }) {
  const [status, setStatus] = useState('');
  const [way, setWay] = useState(AS_IT_IS);
  const action = useAction();
  const fault = faultTypesOn('callback').find((type) => type === way);
  const set = (chosen: string) =>
    action.run(() => control.setStatus(referenceNumber, chosen), describeResult);
  const resend = () => {
    const sent =
      way === AT_ONCE ? { type: 'duplicate', mode: 'at-once' } : fault && { type: fault };
    void action.run(
      () => control.resend(referenceNumber, sent && { on: 'callback', ...sent }),
      describeResult,
    );
  };

  return (
    <Card title="Actions" class="actions">
      <Form onSubmit={() => void set(status).then((isDone) => isDone && setStatus(''))}>
        <Button kind="primary" action={action} onClick={() => void set('paid')}>
          Set to paid
        </Button>
        <TextField
          label="Any other status"
          value={status}
          onValue={setStatus}
          placeholder="another status"
          isRequired
        >
          <Button action={action}>Set status</Button>
        </TextField>
      </Form>
      <Form onSubmit={resend}>
        <SelectField
          label="Resend the current status"
          value={way}
          onValue={setWay}
          choices={ways}
          names={names}
        >
          <span data-resend>
            <Button action={action} onClick={resend}>
              Resend
            </Button>
          </span>
        </SelectField>
      </Form>
      {fault !== undefined && <p class="hint">{describeFault(fault)}</p>}
      <ActionStatus action={action} />
    </Card>
  );
}

/** The story of a payment, newest first: it ends at the request that created the payment. */
function Timeline({ detail }: LoadedProps) {
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
          <Delivery {...entry} opened={opened} />
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
  /** The attempt that is open from the start. */
  readonly opened: string | undefined;
}

function Delivery({ delivery, isResend, opened }: DeliveryProps) {
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
          {nextRetryAt !== undefined && (
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
