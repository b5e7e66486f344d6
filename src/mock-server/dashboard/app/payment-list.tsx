import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ControlPayment } from '../../control/control-types.js';
import { ActionStatus, Button, useAction } from './action.js';
import { writeAge, writeCount, writeMoney } from './format.js';
import { HeldList, ListHead } from './held-list.js';
import { liveData, MAX_PAYMENT_ROWS, type PaymentRows } from './live-data.js';
import { toHash } from './route.js';
import { moveFocus, rowsIn } from './shortcuts.js';
import { StatusBadge } from './text.js';
import { Time } from './time.js';

interface PaymentListProps {
  readonly payments: PaymentRows | undefined;
  readonly selected: string | undefined;
  /** Payments that have a failed callback. */
  readonly failed: ReadonlySet<string>;
  /** Called when the selected payment is chosen again. */
  readonly onOpenAgain: () => void;
}

/** Returns the element id of a payment's row. */
export function rowId(referenceNumber: string): string {
  return `payment-${referenceNumber}`;
}

export function PaymentList({ payments, ...props }: PaymentListProps) {
  if (payments === undefined) return <p>Loading…</p>;
  if (payments.total > 0) return <List payments={payments} {...props} />;
  return (
    <p class="empty" role="status">
      {payments.search === '' ? 'No payments yet.' : 'No payments match.'}
    </p>
  );
}

type ListProps = PaymentListProps & { readonly payments: PaymentRows };

function List({ payments, selected, failed, onOpenAgain }: ListProps) {
  const { rows, next, search } = payments;
  const list = useRef<HTMLUListElement>(null);
  const action = useAction();
  const focusFrom = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    // The button disappears with the last page, so the focus moves to the first new row.
    const index = focusFrom.current;
    if (index === undefined || rows.length <= index) return;
    focusFrom.current = undefined;
    rowsIn(list.current)[index]?.focus();
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
      <ListHead
        list={payments}
        nouns={['payment', 'payments']}
        order="newest first"
        isSearch={search !== ''}
      />
      <HeldList hasSelection={selected !== undefined}>
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
            <Row
              key={payment.referenceNumber}
              payment={payment}
              hasFailed={failed.has(payment.referenceNumber)}
              onOpenAgain={payment.referenceNumber === selected ? onOpenAgain : undefined}
            />
          ))}
        </ul>
        {next !== undefined && rows.length < MAX_PAYMENT_ROWS && (
          <Button onClick={loadMore} action={action}>
            Load more
          </Button>
        )}
        {next !== undefined && rows.length >= MAX_PAYMENT_ROWS && (
          <p class="muted">
            The newest {writeCount(rows.length)} are shown. Search to find older ones.
          </p>
        )}
        <ActionStatus action={action} />
      </HeldList>
    </>
  );
}

interface RowProps {
  readonly payment: ControlPayment;
  readonly hasFailed: boolean;
  /** Only for the selected payment: its link leads nowhere, as it is open already. */
  readonly onOpenAgain: (() => void) | undefined;
}

function Row({ payment, hasFailed, onOpenAgain }: RowProps) {
  const { referenceNumber, merchantPaymentReference, status, amount, currency, createdAt } =
    payment;
  const isOpen = onOpenAgain !== undefined;
  // Every change draws hundreds of rows, of which few have changed.
  return useMemo(
    () => (
      <li>
        <a
          id={rowId(referenceNumber)}
          class="payment-row"
          href={toHash({ view: 'payments', referenceNumber })}
          aria-current={isOpen ? 'true' : undefined}
          data-row
          onClick={onOpenAgain}
        >
          <span class="reference">
            {hasFailed && (
              <span class="bad-text" title="A callback failed">
                <span aria-hidden="true">✕ </span>
                <span class="visually-hidden">Callback failed: </span>
              </span>
            )}
            <bdi>{merchantPaymentReference}</bdi>
          </span>
          <span class="amount">
            <bdi>{writeMoney(amount, currency)}</bdi>
          </span>
          <StatusBadge status={status} />
          <span class="age">
            <Time at={createdAt} write={writeAge} />
          </span>
        </a>
      </li>
    ),
    [referenceNumber, payment.updatedAt, hasFailed, isOpen],
  );
}
