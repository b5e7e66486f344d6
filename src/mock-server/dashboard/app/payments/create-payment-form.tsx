import { useEffect, useRef, useState } from 'preact/hooks';
import { control } from '../data/control-client.js';
import { goTo } from '../data/route.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';

interface CreatePaymentFormProps {
  /** There is no payment yet: it is open by itself. */
  readonly isFirst: boolean;
  /** How many there are: what the proposed reference follows from. */
  readonly paymentCount: number;
}

export function CreatePaymentForm({ isFirst, paymentCount }: CreatePaymentFormProps) {
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
    action.run(async () => {
      const payment = await control.createPayment({
        merchantPaymentReference: reference,
        amount: Number(amount),
        currency,
      });
      setTyped(undefined);
      disclosure.current?.removeAttribute('open');
      goTo({ view: 'payments', referenceNumber: payment.referenceNumber });
      return `Created: ${payment.merchantPaymentReference}.`;
    });

  return (
    <details class="create" ref={disclosure}>
      <summary>Create payment</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField label="Merchant reference" value={reference} onValue={setTyped} isRequired />
        <div class="pair">
          <TextField label="Amount" type="number" value={amount} onValue={setAmount} isRequired />
          <TextField label="Currency" value={currency} onValue={setCurrency} isRequired />
        </div>
        <Button type="submit" kind="primary" isBusy={action.isRunning}>
          Create
        </Button>
        <ActionStatus action={action} />
      </form>
    </details>
  );
}
