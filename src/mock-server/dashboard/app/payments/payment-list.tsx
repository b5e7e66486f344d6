import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ControlPayment } from '../../../control/control-types.js';
import { liveData, MAX_PAYMENT_ROWS, type PaymentRows } from '../data/live-data.js';
import { toHash } from '../data/route.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { StatusBadge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Age } from '../parts/time.js';

interface PaymentListProps {
  readonly payments: PaymentRows;
  readonly selected: string | undefined;
  /** The selected one was chosen once more. */
  readonly onOpenAgain: () => void;
}

/** The id of a payment's row. */
export function rowId(referenceNumber: string): string {
  return `payment-${referenceNumber}`;
}

export function PaymentList({ payments, selected, onOpenAgain }: PaymentListProps) {
  const { rows, total, next, search } = payments;
  const list = useRef<HTMLUListElement>(null);
  const action = useAction();
  const focusFrom = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    // The button may be gone with the last page; the reader goes on with the first of the new rows.
    const index = focusFrom.current;
    if (index === undefined || rows.length <= index) return;
    focusFrom.current = undefined;
    linksOf(list.current)[index]?.focus();
  });

  const loadMore = () => {
    focusFrom.current = rows.length;
    void action.run(async () => {
      await liveData.loadMorePayments();
      return '';
    });
  };

  return (
    <>
      {/* What a search has found is said; what comes by itself would be said without end. */}
      <p class="muted list-count" role={search === '' ? undefined : 'status'}>
        {rows.length < total ? `${rows.length} of ${total}` : total}{' '}
        {total === 1 ? 'payment' : 'payments'}, newest first
      </p>
      <ul
        class="payments"
        ref={list}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          moveFocus(list.current, event.key === 'ArrowDown' ? 1 : -1);
        }}
      >
        {rows.map((payment) => (
          <li key={payment.referenceNumber}>
            <Row
              payment={payment}
              onOpenAgain={payment.referenceNumber === selected ? onOpenAgain : undefined}
            />
          </li>
        ))}
      </ul>
      {next !== undefined && <More count={rows.length} isBusy={action.isRunning} load={loadMore} />}
      <ActionStatus action={action} />
    </>
  );
}

function More(props: { count: number; isBusy: boolean; load: () => void }) {
  if (props.count >= MAX_PAYMENT_ROWS) {
    return <p class="muted">The newest {props.count} are shown. Search to find older ones.</p>;
  }
  return (
    <Button onClick={props.load} isBusy={props.isBusy}>
      Load more
    </Button>
  );
}

interface RowProps {
  readonly payment: ControlPayment;
  /** Given for the selected one: its link leads where the page is already, so nothing follows by itself. */
  readonly onOpenAgain: (() => void) | undefined;
}

function Row({ payment, onOpenAgain }: RowProps) {
  const { referenceNumber, merchantPaymentReference, status, amount, currency, createdAt } =
    payment;
  return (
    <a
      id={rowId(referenceNumber)}
      class="payment-row"
      href={toHash({ view: 'payments', referenceNumber })}
      aria-current={onOpenAgain === undefined ? undefined : 'true'}
      onClick={onOpenAgain}
    >
      <span class="reference">
        <bdi>{merchantPaymentReference}</bdi>
      </span>
      <span class="amount">
        <bdi>
          {amount} {currency}
        </bdi>
      </span>
      <StatusBadge status={status} />
      <span class="age">
        <Age at={createdAt} />
      </span>
    </a>
  );
}

function linksOf(list: HTMLElement | null): HTMLAnchorElement[] {
  return [...(list?.querySelectorAll('a') ?? [])];
}

function moveFocus(list: HTMLElement | null, by: number): void {
  const links = linksOf(list);
  const at = links.findIndex((link) => link.matches(':focus'));
  links[at + by]?.focus();
}
