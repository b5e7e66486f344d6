import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import { Feed } from './feed.js';
import { SearchBox, TextField } from './field.js';
import { liveData, type Snapshot } from './live-data.js';
import { Overview } from './overview.js';
import { PaymentDetail } from './payment-detail.js';
import { PaymentList, rowId } from './payment-list.js';
import { goTo } from './route.js';
import { Card } from './section.js';
import { takeOpenedByStep } from './shortcuts.js';
import { CopyButton, RawText } from './text.js';

interface PaymentsViewProps {
  readonly data: Snapshot;
  readonly referenceNumber: string | undefined;
}

/** The list of payments with the open one beside it; on a narrow page, one or the other. */
export function PaymentsView({ data, referenceNumber }: PaymentsViewProps) {
  const detail = useRef<HTMLElement>(null);
  useFocusFollowing(referenceNumber, detail);
  const { payments, search, service, failures } = data;
  const isEmpty = payments?.total === 0 && payments.search === '';
  const failed = useMemo(
    () => new Set(failures?.map((callback) => callback.referenceNumber)),
    [failures],
  );

  return (
    <div class={referenceNumber === undefined ? 'split' : 'split has-detail'}>
      <section class="list-pane" aria-labelledby="payments-title">
        <h2 id="payments-title">Payments</h2>
        <CreatePaymentForm isFirst={isEmpty} paymentCount={service?.counts.payments ?? 0} />
        {!isEmpty && <SearchBox search={search} onSearch={(text) => liveData.search(text)} />}
        <PaymentList
          payments={payments}
          selected={referenceNumber}
          failed={failed}
          onOpenAgain={() => detail.current?.focus()}
        />
      </section>
      {referenceNumber === undefined ? (
        <div class="detail-pane">
          {isEmpty && <FirstPayment />}
          {!isEmpty && service !== undefined && <Overview service={service} failures={failures} />}
        </div>
      ) : (
        <section
          class="detail-pane"
          ref={detail}
          tabIndex={-1}
          aria-labelledby="payment-title"
          onKeyDown={({ key, target }) => {
            // In a menu, Escape closes the menu.
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
      <div class="feed-pane">
        <Feed entries={data.feed} />
      </div>
    </div>
  );
}

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
    if (left === referenceNumber || takeOpenedByStep()) return;
    if (referenceNumber !== undefined) detail.current?.focus();
    else if (left !== undefined) document.getElementById(rowId(left))?.focus();
  }, [referenceNumber]);
}

interface CreatePaymentFormProps {
  /** There is no payment yet: the form is open from the start. */
  readonly isFirst: boolean;
  /** For the suggested reference. */
  readonly paymentCount: number;
}

function CreatePaymentForm({ isFirst, paymentCount }: CreatePaymentFormProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [amount, setAmount] = useState('2500');
  const [currency, setCurrency] = useState('EUR');
  const action = useAction();
  const disclosure = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isFirst) disclosure.current?.setAttribute('open', '');
  }, [isFirst]);
  const reference = typed ?? `order-${1001 + paymentCount}`;

  const create = () =>
    void action.run(async () => {
      const payment = await control.createPayment({
        merchantPaymentReference: reference,
        amount: Number(amount),
        currency,
      });
      setTyped(undefined);
      await liveData.showNewest();
      disclosure.current?.removeAttribute('open');
      goTo({ view: 'payments', referenceNumber: payment.referenceNumber });
      return `Created: ${payment.merchantPaymentReference}.`;
    });

  return (
    <details class="create" ref={disclosure}>
      <summary>Create payment</summary>
      <Form onSubmit={create}>
        <TextField label="Merchant reference" value={reference} onValue={setTyped} isRequired />
        <div class="pair">
          <TextField label="Amount" type="number" value={amount} onValue={setAmount} isRequired />
          <TextField label="Currency" value={currency} onValue={setCurrency} isRequired />
        </div>
        <Button kind="primary" action={action}>
          Create
        </Button>
        <ActionStatus action={action} />
      </Form>
    </details>
  );
}

function FirstPayment() {
  const snippet = `import { PaymentClient } from 'merchant-payments';

// MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET: those of this mock.
const client = PaymentClient.fromEnv({ baseUrl: '${window.location.origin}' });
const { payment } = await client.payments.create({
  merchantPaymentReference: 'order-1001',
  amount: 2500,
  currency: 'EUR',
});
console.log(payment.referenceNumber, payment.status);
`;
  return (
    <Card title="Create the first payment">
      <p>
        Use the form on this page, or the client in your code: the payment appears here. Then set it
        to <strong>paid</strong>, and watch the signed callback reach your endpoint.
      </p>
      <RawText label="With the client" text={snippet} />
      <CopyButton label="Copy snippet" text={snippet} />
    </Card>
  );
}
