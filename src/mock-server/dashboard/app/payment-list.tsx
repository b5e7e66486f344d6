import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ControlPayment } from '../../control/control-types.js';
import { ActionStatus, Button, useAction } from './action.js';
import { liveData, MAX_PAYMENT_ROWS, type PaymentRows } from './live-data.js';
import { toHash } from './route.js';
import { StatusBadge } from './text.js';
import { Age } from './time.js';

interface PaymentListProps {
  readonly payments: PaymentRows;
  readonly selected: string | undefined;
  /** The selected one was chosen again. */
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
    // The button may be gone with the last page: the focus moves to the first of the new rows.
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
      {/* A screen reader says the result of a search, but not every payment that is added. */}
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
      {next !== undefined && rows.length < MAX_PAYMENT_ROWS && (
        <Button onClick={loadMore} action={action}>
          Load more
        </Button>
      )}
      {next !== undefined && rows.length >= MAX_PAYMENT_ROWS && (
        <p class="muted">The newest {rows.length} are shown. Search to find older ones.</p>
      )}
      <ActionStatus action={action} />
    </>
  );
}

interface RowProps {
  readonly payment: ControlPayment;
  /** Given for the selected one: its link changes nothing, as the page is there already. */
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
