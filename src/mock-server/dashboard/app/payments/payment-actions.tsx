import { useState } from 'preact/hooks';
import type { CallbackFaultType } from '../../../faults/fault-types.js';
import { control } from '../data/control-client.js';
import { describeResult } from '../data/delivery-text.js';
import { callbackFaults } from '../data/fault-catalogue.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { SelectField, TextField } from '../parts/field.js';

/** Beside the two that have a button of their own. */
const MENU_FAULTS: readonly CallbackFaultType[] = [
  'stale-timestamp',
  'future-timestamp',
  'wrong-secret',
  'missing-header',
  'reserialized-body',
  'unknown-status',
  'extra-field',
  'drop',
  'reorder',
];

export function PaymentActions({ referenceNumber }: { referenceNumber: string }) {
  return (
    <section class="card actions" aria-labelledby="actions-title">
      <h3 id="actions-title">Actions</h3>
      <SetStatus referenceNumber={referenceNumber} />
      <Resend referenceNumber={referenceNumber} />
    </section>
  );
}

function SetStatus({ referenceNumber }: { referenceNumber: string }) {
  const [status, setStatus] = useState('');
  const action = useAction();
  const set = (chosen: string) =>
    action.run(async () => describeResult(await control.setStatus(referenceNumber, chosen)));

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void set(status).then((isDone) => isDone && setStatus(''));
      }}
    >
      <h4>Change the status</h4>
      <Button kind="primary" isBusy={action.isRunning} onClick={() => void set('paid')}>
        Set to paid
      </Button>
      <TextField
        label="Any other status"
        value={status}
        onValue={setStatus}
        placeholder="refunded"
        isRequired
      >
        <Button type="submit" isBusy={action.isRunning}>
          Set status
        </Button>
      </TextField>
      <ActionStatus action={action} />
    </form>
  );
}

function Resend({ referenceNumber }: { referenceNumber: string }) {
  const [type, setType] = useState<CallbackFaultType>('stale-timestamp');
  const action = useAction();
  const resend = (fault?: { type: CallbackFaultType; mode?: 'at-once' }) =>
    action.run(async () =>
      describeResult(await control.resend(referenceNumber, fault && { on: 'callback', ...fault })),
    );

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void resend({ type });
      }}
    >
      <h4>Send the present status once more</h4>
      <div class="form-row">
        <Button isBusy={action.isRunning} onClick={() => void resend()}>
          Resend
        </Button>
        <Button
          isBusy={action.isRunning}
          onClick={() => void resend({ type: 'duplicate', mode: 'at-once' })}
        >
          Send twice at once
        </Button>
        <Button isBusy={action.isRunning} onClick={() => void resend({ type: 'tampered-body' })}>
          Tamper
        </Button>
      </div>
      <SelectField
        label="With another fault"
        value={type}
        choices={MENU_FAULTS}
        hint={callbackFaults[type].line}
        onValue={(chosen) => setType(chosen as CallbackFaultType)}
      >
        <Button type="submit" isBusy={action.isRunning}>
          Resend with fault
        </Button>
      </SelectField>
      <ActionStatus action={action} />
    </form>
  );
}
