import type {
  ControlPayment,
  ControlPaymentDetail,
  ControlState,
} from '../../../control/control-types.js';
import { toHash } from '../data/route.js';
import { StatusBadge } from '../parts/badge.js';
import { CopyButton } from '../parts/copy-button.js';
import { RawText } from '../parts/raw-text.js';
import { Time } from '../parts/time.js';
import { PaymentActions } from './payment-actions.js';
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
        <Loaded detail={detail} service={service} />
      ) : (
        <NotLoaded referenceNumber={referenceNumber} isMissing={detail === 'missing'} />
      )}
    </>
  );
}

function NotLoaded(props: { referenceNumber: string; isMissing: boolean }) {
  return (
    <>
      <h2 id="payment-title">Payment</h2>
      {props.isMissing ? (
        <p class="empty">
          The mock has no payment <code>{props.referenceNumber}</code>. It was perhaps restarted or
          reset.
        </p>
      ) : (
        <p>Loading…</p>
      )}
    </>
  );
}

interface LoadedProps {
  readonly detail: ControlPaymentDetail;
  readonly service: ControlState | undefined;
}

function Loaded({ detail: { payment, deliveries }, service }: LoadedProps) {
  return (
    <>
      <div class="detail-head">
        <h2 id="payment-title">
          <bdi>{payment.merchantPaymentReference}</bdi>
        </h2>
        <span class="amount">
          {payment.amount} {payment.currency}
        </span>
        <StatusBadge status={payment.status} />
      </div>
      <PaymentActions referenceNumber={payment.referenceNumber} />
      <Timeline
        payment={payment}
        deliveries={deliveries}
        canAdvanceClock={service?.canAdvanceClock ?? false}
      />
      <Record payment={payment} />
    </>
  );
}

function Record({ payment }: { payment: ControlPayment }) {
  const { referenceNumber, merchantPaymentReference, providerReference, extra, history } = payment;
  return (
    <section class="card" aria-labelledby="record-title">
      <h3 id="record-title">Record</h3>
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
        <RawText title="Further fields of the creation" text={JSON.stringify(extra, null, 2)} />
      )}
    </section>
  );
}
