import { useLayoutEffect, useRef } from 'preact/hooks';
import { liveData, type PaymentRows, type Snapshot } from '../data/live-data.js';
import { goTo } from '../data/route.js';
import { CreatePaymentForm } from './create-payment-form.js';
import { FirstPayment } from './first-payment.js';
import { PaymentDetail } from './payment-detail.js';
import { PaymentList, rowId } from './payment-list.js';
import { SearchBox } from './search-box.js';

interface PaymentsViewProps {
  readonly data: Snapshot;
  readonly referenceNumber: string | undefined;
}

/** The list of payments, and beside it the one that is looked at. On a narrow page, one of the two. */
export function PaymentsView({ data, referenceNumber }: PaymentsViewProps) {
  const detail = useRef<HTMLElement>(null);
  useFocusFollowing(referenceNumber, detail);
  const { payments, search, service } = data;
  const isEmpty = payments?.total === 0 && payments.search === '';

  return (
    <div class={referenceNumber === undefined ? 'split' : 'split has-detail'}>
      <section class="list-pane" aria-labelledby="payments-title">
        <h2 id="payments-title">Payments</h2>
        <CreatePaymentForm isFirst={isEmpty} paymentCount={service?.counts.payments ?? 0} />
        {!isEmpty && <SearchBox search={search} onSearch={(text) => liveData.search(text)} />}
        <List
          payments={payments}
          selected={referenceNumber}
          onOpenAgain={() => detail.current?.focus()}
        />
      </section>
      {referenceNumber === undefined ? (
        <div class="detail-pane">{isEmpty ? <FirstPayment /> : <Hint />}</div>
      ) : (
        <section
          class="detail-pane"
          ref={detail}
          tabIndex={-1}
          aria-labelledby="payment-title"
          onKeyDown={({ key, target }) => {
            // In a menu it closes the menu.
            if (key !== 'Escape' || target instanceof HTMLSelectElement) return;
            goTo({ view: 'payments' });
          }}
        >
          <PaymentDetail
            key={referenceNumber}
            referenceNumber={referenceNumber}
            detail={data.detail}
            service={service}
          />
        </section>
      )}
    </div>
  );
}

function Hint() {
  return (
    <p class="empty hint-pane">
      Choose a payment to see its record, its callbacks and every attempt to deliver them.
    </p>
  );
}

interface ListProps {
  readonly payments: PaymentRows | undefined;
  readonly selected: string | undefined;
  readonly onOpenAgain: () => void;
}

function List({ payments, selected, onOpenAgain }: ListProps) {
  if (payments === undefined) return <p>Loading…</p>;
  if (payments.total > 0) {
    return <PaymentList payments={payments} selected={selected} onOpenAgain={onOpenAgain} />;
  }
  const isSearch = payments.search !== '';
  return (
    <p class="empty" role="status">
      {isSearch ? 'No payment has that in its reference or status.' : 'No payment yet.'}
    </p>
  );
}

// Where the reader looks, the keyboard goes: to a payment that was chosen, and back to its row. Before
// the page is drawn, so that no key is pressed in between.
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
