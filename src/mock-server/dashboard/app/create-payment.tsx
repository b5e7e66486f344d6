import { useEffect, useRef, useState } from 'preact/hooks';
import type { ControlRequest } from '../../control/control-types.js';
import { defaultOf, faultCatalogue, faultTypesOn } from '../../faults/fault-catalogue.js';
import { control, createAsClient, type Draft } from './control-client.js';
import { ActionStatus, Button, Card, Form, SelectField, TextField, useAction } from './controls.js';
import { describeFault } from './faults-view.js';
import { goTo } from './route.js';
import { showNewest } from './state.js';
import { CopyButton, RawText } from './texts.js';

const DIRECTLY = 'directly';
const AS_CLIENT = 'as my client would';

/** The faults that need no parameter. */
const faults = faultTypesOn('request').filter((type) =>
  Object.values(faultCatalogue[type].parameters ?? {}).every(
    (parameter) => defaultOf(parameter) !== undefined,
  ),
);
const hows = [DIRECTLY, AS_CLIENT, ...faults];
const names = {
  [DIRECTLY]: 'directly, without a request',
  ...Object.fromEntries(faults.map((type) => [type, `${AS_CLIENT}, with ${type}`])),
};

interface CreatePaymentProps {
  /** There is no payment yet: the form is open from the start. */
  readonly isFirst: boolean;
  /** For the suggested reference. */
  readonly paymentCount: number;
}

export function CreatePayment({ isFirst, paymentCount }: CreatePaymentProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [amount, setAmount] = useState('2500');
  const [currency, setCurrency] = useState('EUR');
  const [how, setHow] = useState<string>(DIRECTLY);
  const action = useAction();
  const disclosure = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isFirst) disclosure.current?.setAttribute('open', '');
  }, [isFirst]);
  const reference = typed ?? `order-${1001 + paymentCount}`;
  const fault = faults.find((type) => type === how);

  const create = () =>
    void action.run<string>(async () => {
      const payment = {
        merchantPaymentReference: reference,
        amount: Number(amount),
        currency,
      };
      const { referenceNumber, result } =
        how === DIRECTLY ? await createDirectly(payment) : await send(payment, fault);
      if (referenceNumber === undefined) return result;
      setTyped(undefined);
      await showNewest('payments');
      disclosure.current?.removeAttribute('open');
      goTo('payments', referenceNumber);
      return result;
    }, String);

  return (
    <details class="create" ref={disclosure}>
      <summary>Create payment</summary>
      <Form onSubmit={create}>
        <TextField label="Merchant reference" value={reference} onValue={setTyped} isRequired />
        <div class="pair">
          <TextField label="Amount" type="number" value={amount} onValue={setAmount} isRequired />
          <TextField label="Currency" value={currency} onValue={setCurrency} isRequired />
        </div>
        <SelectField
          label="How"
          value={how}
          onValue={setHow}
          choices={hows}
          names={names}
          hint={fault && describeFault(fault)}
        />
        <Button kind="primary" action={action}>
          Create
        </Button>
        <ActionStatus action={action} />
      </Form>
    </details>
  );
}

interface Created {
  readonly referenceNumber?: string | undefined;
  readonly result: string;
}

async function createDirectly(payment: Draft): Promise<Created> {
  const { referenceNumber, merchantPaymentReference } = await control.createPayment(payment);
  return { referenceNumber, result: `Created: ${merchantPaymentReference}.` };
}

/** Sends it through the API, where the faults are. */
async function send(payment: Draft, type: string | undefined): Promise<Created> {
  const merchantPaymentReference = String(payment['merchantPaymentReference']);
  if (type !== undefined) {
    await control.addFault({ on: 'request', type, match: { merchantPaymentReference } });
  }
  await createAsClient(payment);
  const { requests } = await control.listRequests({ limit: 1, merchantPaymentReference });
  const [request] = requests;
  if (request === undefined) return { result: 'The mock does not know the request.' };
  return { referenceNumber: request.referenceNumber, result: describe(request) };
}

function describe({ outcome, status, answer, referenceNumber }: ControlRequest): string {
  const made = referenceNumber === undefined ? 'No payment was created' : 'The payment was created';
  if (outcome !== 'lost') return `${made}. Your client would get HTTP ${status}: ${answer?.body}`;
  return `${made}, and your client would get no answer.`;
}

export function FirstPayment() {
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
