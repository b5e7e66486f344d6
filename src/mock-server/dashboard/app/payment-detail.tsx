import { useState } from 'preact/hooks';
import type {
  ControlPayment,
  ControlPaymentDetail,
  ControlState,
} from '../../control/control-types.js';
import type { CallbackFault } from '../../faults/fault.js';
import { faultTypesOn } from '../../faults/fault-catalogue.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import { describeResult } from './delivery-text.js';
import { describeFault } from './faults-view.js';
import { SelectField, TextField } from './field.js';
import { writeMoney } from './format.js';
import { toHash } from './route.js';
import { Card } from './section.js';
import { CopyButton, RawText, StatusBadge } from './text.js';
import { Time } from './time.js';
import { Timeline } from './timeline.js';

interface PaymentDetailProps {
  readonly referenceNumber: string;
  readonly detail: ControlPaymentDetail | 'missing' | undefined;
  readonly service: ControlState | undefined;
}

export function PaymentDetail({ referenceNumber, detail, service }: PaymentDetailProps) {
  return (
    <>
      <a class="back" href={toHash({ view: 'payments' })}>
        <span aria-hidden="true">←</span> All payments
      </a>
      {typeof detail === 'object' ? (
        <Loaded detail={detail} canAdvanceClock={service?.canAdvanceClock ?? false} />
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
  const { payment, deliveries } = props.detail;
  return (
    <>
      <div class="detail-head">
        <h2 id="payment-title">
          <bdi>{payment.merchantPaymentReference}</bdi>
        </h2>
        <span class="amount">{writeMoney(payment.amount, payment.currency)}</span>
        <StatusBadge status={payment.status} />
      </div>
      <Card title="Actions" class="actions">
        <SetStatus referenceNumber={payment.referenceNumber} />
        <Resend referenceNumber={payment.referenceNumber} />
      </Card>
      <Timeline payment={payment} deliveries={deliveries} canAdvanceClock={props.canAdvanceClock} />
      <PaymentRecord payment={payment} />
    </>
  );
}

function SetStatus({ referenceNumber }: { referenceNumber: string }) {
  const [status, setStatus] = useState('');
  const action = useAction();
  const set = (chosen: string) =>
    action.run(async () => describeResult(await control.setStatus(referenceNumber, chosen)));

  return (
    <Form onSubmit={() => void set(status).then((isDone) => isDone && setStatus(''))}>
      <h4>Change the status</h4>
      <Button kind="primary" action={action} onClick={() => void set('paid')}>
        Set to paid
      </Button>
      <TextField
        label="Any other status"
        value={status}
        onValue={setStatus}
        placeholder="refunded"
        isRequired
      >
        <Button action={action}>Set status</Button>
      </TextField>
      <ActionStatus action={action} />
    </Form>
  );
}

/** The faults without a button of their own. */
const menuFaults = faultTypesOn('callback').filter(
  (type) => type !== 'duplicate' && type !== 'tampered-body',
);

function Resend({ referenceNumber }: { referenceNumber: string }) {
  const [type, setType] = useState<CallbackFault['type']>('stale-timestamp');
  const action = useAction();
  const resend = (fault?: { type: CallbackFault['type']; mode?: 'at-once' }) =>
    void action.run(async () =>
      describeResult(await control.resend(referenceNumber, fault && { on: 'callback', ...fault })),
    );

  return (
    <Form onSubmit={() => resend({ type })}>
      <h4>Resend the current status</h4>
      <div class="form-row">
        <span data-resend>
          <Button action={action} onClick={() => resend()}>
            Resend
          </Button>
        </span>
        <Button action={action} onClick={() => resend({ type: 'duplicate', mode: 'at-once' })}>
          Send twice at once
        </Button>
        <Button action={action} onClick={() => resend({ type: 'tampered-body' })}>
          Tamper
        </Button>
      </div>
      <SelectField
        label="With another fault"
        value={type}
        choices={menuFaults}
        hint={describeFault(type)}
        onValue={(chosen) => setType(chosen as CallbackFault['type'])}
      >
        <Button action={action}>Resend with fault</Button>
      </SelectField>
      <ActionStatus action={action} />
    </Form>
  );
}

function PaymentRecord({ payment }: { payment: ControlPayment }) {
  const { referenceNumber, merchantPaymentReference, providerReference, extra, history } = payment;
  return (
    <Card title="Record">
      <dl class="facts-list">
        <dt>Reference number</dt>
        <dd>
          <code>{referenceNumber}</code>{' '}
          <CopyButton label="Copy reference number" text={referenceNumber} />
        </dd>
        <dt>Merchant reference</dt>
        <dd>
          <bdi>{merchantPaymentReference}</bdi>
        </dd>
        <dt>Provider reference</dt>
        <dd>
          <code>{providerReference}</code>
        </dd>
        <dt>Created</dt>
        <dd>
          <Time at={payment.createdAt} />
        </dd>
        <dt>Updated</dt>
        <dd>
          <Time at={payment.updatedAt} />
        </dd>
        <dt>History</dt>
        <dd>
          <ol class="history">
            {history.map(({ status, at }) => (
              <li key={at}>
                <StatusBadge status={status} />
              </li>
            ))}
          </ol>
        </dd>
      </dl>
      {Object.keys(extra).length > 0 && (
        <RawText label="Other fields of the payment" text={JSON.stringify(extra, null, 2)} />
      )}
    </Card>
  );
}
