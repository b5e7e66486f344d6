import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ControlPayment, ControlState } from '../../control/control-types.js';
import { CallbackRow } from './callbacks-view.js';
import { Card } from './controls.js';
import { CreatePayment, FirstPayment } from './create-payment.js';
import { writeAge, writeCount } from './format.js';
import { List, SearchBox } from './list.js';
import { PaymentDetail } from './payment-detail.js';
import { Request } from './requests-view.js';
import { goTo, toHash } from './route.js';
import type { Snapshot, Troubles } from './state.js';
import { Badge, StatusBadge } from './texts.js';
import { Time } from './time.js';

interface PaymentsViewProps {
  readonly data: Snapshot;
  readonly referenceNumber: string | undefined;
}

/** The list of payments with the open one beside it; on a narrow page, one or the other. */
export function PaymentsView({ data, referenceNumber }: PaymentsViewProps) {
  const detail = useRef<HTMLElement>(null);
  useFocusFollowing(referenceNumber, detail);
  const { service, troubles } = data;
  const { payments: list } = data.lists;
  const { payments: search = '' } = data.searches;
  const isEmpty = list?.total === 0 && search === '';
  const failed = useMemo(
    () => new Set(troubles?.callbacks.map((callback) => callback.referenceNumber)),
    [troubles],
  );

  return (
    <div class={referenceNumber === undefined ? 'split' : 'split has-detail'}>
      <section
        class={isEmpty ? 'list-pane is-empty' : 'list-pane'}
        aria-labelledby="payments-title"
      >
        <h2 id="payments-title">Payments</h2>
        <CreatePayment isFirst={isEmpty} paymentCount={service?.counts.payments ?? 0} />
        {!isEmpty && <SearchBox name="payments" search={search} />}
        <List
          name="payments"
          list={list}
          noun="payment"
          order={search === '' ? 'newest first' : 'best match first'}
          isNarrowed={search !== ''}
          hasSelection={referenceNumber !== undefined}
          empty="No payments yet."
          row={(payment) => (
            <Row
              key={payment.referenceNumber}
              payment={payment}
              hasFailed={failed.has(payment.referenceNumber)}
              isOpen={payment.referenceNumber === referenceNumber}
              onOpenAgain={() => detail.current?.focus()}
            />
          )}
        />
      </section>
      {referenceNumber === undefined ? (
        <div class="detail-pane">
          {isEmpty && <FirstPayment />}
          {!isEmpty && service !== undefined && <Overview service={service} troubles={troubles} />}
        </div>
      ) : (
        <section
          class="detail-pane"
          ref={detail}
          tabIndex={-1}
          aria-labelledby="payment-title"
          onKeyDown={({ key, target }) => {
            // In a menu, Escape closes the menu.
            if (key === 'Escape' && !(target instanceof HTMLSelectElement)) goTo('payments');
          }}
        >
          <PaymentDetail
            key={referenceNumber}
            referenceNumber={referenceNumber}
            detail={data.detail}
          />
        </section>
      )}
    </div>
  );
}

const rowId = (referenceNumber: string): string => `payment-${referenceNumber}`;

// Moves the keyboard focus to a payment that is opened, and back to its row when it is closed. Before the
// page is drawn, so that no key press falls in between.
function useFocusFollowing(
  referenceNumber: string | undefined,
  detail: { readonly current: HTMLElement | null },
): void {
  const before = useRef(referenceNumber);
  useLayoutEffect(() => {
    const left = before.current;
    before.current = referenceNumber;
    if (left === referenceNumber) return;
    if (referenceNumber !== undefined) detail.current?.focus();
    else if (left !== undefined) document.getElementById(rowId(left))?.focus();
  }, [referenceNumber]);
}

interface RowProps {
  readonly payment: ControlPayment;
  readonly hasFailed: boolean;
  readonly isOpen: boolean;
  /** Its link leads nowhere when it is open already. */
  readonly onOpenAgain: () => void;
}

function Row({ payment, hasFailed, isOpen, onOpenAgain }: RowProps) {
  const { referenceNumber, merchantPaymentReference, status, amount, currency } = payment;
  // Every change draws hundreds of rows, of which few have changed.
  return useMemo(
    () => (
      <li>
        <a
          id={rowId(referenceNumber)}
          class="payment-row"
          href={toHash('payments', referenceNumber)}
          aria-current={isOpen ? 'true' : undefined}
          data-row
          onClick={isOpen ? onOpenAgain : undefined}
        >
          <span class="reference" title={merchantPaymentReference}>
            {hasFailed && (
              <span class="bad-text" title="A callback failed">
                <span aria-hidden="true">✕ </span>
                <span class="visually-hidden">Callback failed: </span>
              </span>
            )}
            <bdi>{merchantPaymentReference}</bdi>
          </span>
          {payment.secondOf !== undefined && <Badge text="second" tone="bad" sign="2×" />}
          <bdi class="amount">
            {amount} {currency}
          </bdi>
          <StatusBadge status={status} />
          <span class="age">
            <Time at={payment.createdAt} write={writeAge} />
          </span>
        </a>
      </li>
    ),
    [referenceNumber, payment.updatedAt, hasFailed, isOpen],
  );
}

/** As many of each kind as fit without scrolling. */
const SHOWN = 6;

interface OverviewProps {
  readonly service: ControlState;
  readonly troubles: Troubles | undefined;
}

/** Shown while no payment is open: what went wrong. */
function Overview({ service, troubles }: OverviewProps) {
  const { callbacks, secondPayments } = service.counts;
  const { callbacks: failed, payments, requests } = troubles ?? nothing;
  return (
    <section class="overview" aria-labelledby="overview-title">
      <h2 id="overview-title">Overview</h2>
      {payments.length > 0 && (
        <Card title={`Second payments for one reference: ${writeCount(secondPayments)}`}>
          <ul class="rows seconds">
            {payments.slice(0, SHOWN).map((payment) => (
              <li key={payment.referenceNumber}>
                <a class="reference" href={toHash('payments', payment.referenceNumber)}>
                  <bdi>{payment.merchantPaymentReference}</bdi>
                </a>
                <StatusBadge status={payment.status} />
                <span class="muted">
                  after <a href={toHash('payments', payment.secondOf)}>the first one</a>
                </span>
                <Time at={payment.createdAt} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {failed.length > 0 && (
        <Card title="Failed callbacks" class="attention">
          <ul class="rows callbacks">
            {failed.slice(0, SHOWN).map((callback) => (
              <CallbackRow key={callback.id} callback={callback} />
            ))}
          </ul>
          {callbacks.failed > SHOWN && (
            <a href={toHash('callbacks', 'failed')}>
              All {writeCount(callbacks.failed)} failed callbacks
            </a>
          )}
        </Card>
      )}
      {requests.length > 0 && (
        <Card title="Requests that failed">
          <ul class="rows requests">
            {requests.slice(0, SHOWN).map((request) => (
              <li key={request.requestId}>
                <Request request={request} />
              </li>
            ))}
          </ul>
          <a href={toHash('requests')}>All requests</a>
        </Card>
      )}
      {troubles !== undefined && failed.length + payments.length + requests.length === 0 && (
        <p class="calm good">
          <span aria-hidden="true">✓ </span>Nothing has failed. Choose a payment to see its request,
          its callbacks and every attempt to deliver them.
        </p>
      )}
      <Dropped dropped={service.dropped} />
    </section>
  );
}

const nothing: Troubles = { callbacks: [], payments: [], requests: [] };

/** Shown when the mock has reached a limit, as that explains what is missing. */
function Dropped({ dropped }: Pick<ControlState, 'dropped'>) {
  const counts = Object.entries(dropped)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${writeCount(count)} ${kind}`);
  if (counts.length === 0) return null;
  return (
    <p class="muted">
      The mock has reached a limit and dropped the oldest: {counts.join(', ')}. Reset it to start
      again.
    </p>
  );
}
