import { useState } from 'preact/hooks';
import type { ControlPaymentDetail } from '../../control/control-types.js';
import { faultTypesOn } from '../../faults/fault-catalogue.js';
import { control } from './control-client.js';
import { ActionStatus, Button, Card, Form, SelectField, TextField, useAction } from './controls.js';
import { describeResult } from './delivery-text.js';
import { describeFault } from './faults-view.js';
import { toHash } from './route.js';
import { Body, CopyButton, StatusBadge } from './texts.js';
import { Time } from './time.js';
import { Timeline } from './timeline.js';

interface PaymentDetailProps {
  readonly referenceNumber: string;
  readonly detail: ControlPaymentDetail | 'missing' | undefined;
  readonly canAdvanceClock: boolean;
}

export function PaymentDetail({ referenceNumber, detail, canAdvanceClock }: PaymentDetailProps) {
  return (
    <>
      <a class="back" href={toHash('payments')}>
        <span aria-hidden="true">←</span> All payments
      </a>
      {typeof detail === 'object' ? (
        <Loaded detail={detail} canAdvanceClock={canAdvanceClock} />
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

function Loaded(props: { detail: ControlPaymentDetail; canAdvanceClock: boolean }) {
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
