import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ControlPayment } from '../../control/control-types.js';
import { CreatePayment, FirstPayment } from './create-payment.js';
import { writeAge } from './format.js';
import { List, SearchBox } from './list.js';
import { Overview } from './overview.js';
import { PaymentDetail } from './payment-detail.js';
import { goTo, toHash } from './route.js';
import type { Snapshot } from './state.js';
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
            canAdvanceClock={service?.canAdvanceClock ?? false}
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
