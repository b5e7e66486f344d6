import { useState } from 'preact/hooks';
import type { ControlPayment, ControlState } from '../../control/control-types.js';
import { faultTypesOn } from '../../faults/fault-catalogue.js';
import { control } from './control-client.js';
import { ActionStatus, Button, Form, SelectField, TextField, useAction } from './controls.js';
import { LineDetails } from './details.js';
import { Time } from './format.js';
import { describeResult, type Line } from './lines.js';
import { hashOf, NextTry, ResendButton } from './stream.js';
import { Badge, Body, CopyButton, StatusBadge } from './texts.js';

interface StoryProps {
  readonly state: ControlState;
  /** The lines of the payment, or the one request that made none. */
  readonly lines: readonly Line[];
  readonly payment: ControlPayment | undefined;
  /** The key of the line that is open. */
  readonly opened: string | undefined;
}

/** What happened to a payment, newest first, or a request that made none. */
export function Story({ state, lines, payment, opened }: StoryProps) {
  return (
    <>
      <a class="back" href="#/">
        <span aria-hidden="true">← </span>Back <kbd>Esc</kbd>
      </a>
      {payment !== undefined && <Head payment={payment} state={state} />}
      {payment === undefined && <h2 id="story">{lines[0]?.what ?? 'Not found'}</h2>}
      {lines.length === 0 && (
        <p>
          The mock does not show this: it was reset, or there are too many newer ones.{' '}
          <code>merchant-payments payments show</code> shows older payments.
        </p>
      )}
      <ol class="story" aria-label="Story">
        {lines.map((line) => (
          <StoryLine key={line.key} line={line} isOpen={line.key === opened} />
        ))}
      </ol>
      {payment !== undefined && <Body label="Record" text={JSON.stringify(payment)} />}
    </>
  );
}

function StoryLine({ line, isOpen }: { line: Line; isOpen: boolean }) {
  const { at, what, status, answer, why, source, fault, nextRetryAt } = line;
  return (
    <li class={isOpen ? 'opened' : undefined}>
      <a class="summary" href={isOpen ? hashOf({ ...line, key: '' }) : hashOf(line)}>
        <span class="what">{what}</span>
        {'delivery' in source && status !== undefined && <StatusBadge status={status} />}
        <Badge text={answer.text} tone={answer.tone} />
        <Time at={at} />
      </a>
      {(why !== undefined || fault !== undefined) && (
        <p class={answer.tone === 'bad' ? 'bad-text' : 'muted'}>
          {fault !== undefined && <span class="fault">fault {fault} </span>}
          {why}
        </p>
      )}
      {nextRetryAt !== undefined && (
        <p>
          Tried again <NextTry line={line} at={nextRetryAt} />
        </p>
      )}
      {isOpen && (
        <div class="details">
          {'delivery' in source && <ResendButton deliveryId={source.delivery.id} />}
          <LineDetails line={line} />
        </div>
      )}
    </li>
  );
}

function Head({ payment, state }: { payment: ControlPayment; state: ControlState }) {
  const { referenceNumber, merchantPaymentReference, amount, currency, status } = payment;
  const others = state.payments.filter(
    (other) => other.merchantPaymentReference === merchantPaymentReference && other !== payment,
  );
  return (
    <>
      <div class="head">
        <h2 id="story">
          <bdi>{merchantPaymentReference}</bdi>
        </h2>
        <bdi class="amount">
          {amount} {currency}
        </bdi>
        <StatusBadge status={status} />
      </div>
      <p class="muted number">
        <code>{referenceNumber}</code> <CopyButton label="Copy" text={referenceNumber} />{' '}
        <a href={`pay/${encodeURIComponent(referenceNumber)}`} target="_blank" rel="noopener">
          Page to pay on
        </a>
      </p>
      {others.length > 0 && (
        <div class="alert bad" role="alert">
          <strong>This order has {others.length + 1} payments.</strong> If more than one is paid,
          the customer has paid twice:
          <ul>
            {others.map((other) => (
              <li key={other.referenceNumber}>
                <a href={`#/${other.referenceNumber}`}>{other.referenceNumber}</a>{' '}
                <StatusBadge status={other.status} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <Actions referenceNumber={referenceNumber} />
    </>
  );
}

const AS_IT_IS = 'as it is';
const AT_ONCE = 'twice at once';
const ways = [AS_IT_IS, AT_ONCE, ...faultTypesOn('callback')];

/** What can be done with a payment. */
function Actions({ referenceNumber }: { referenceNumber: string }) {
  const [status, setStatus] = useState('');
  const [way, setWay] = useState(AS_IT_IS);
  const action = useAction();
  const set = (chosen: string) =>
    action.run(() => control.setStatus(referenceNumber, chosen), describeResult);
  const resend = () => {
    const type = faultTypesOn('callback').find((one) => one === way);
    const fault = way === AT_ONCE ? { type: 'duplicate', mode: 'at-once' } : type && { type };
    const options = fault && { fault: { on: 'callback', ...fault } };
    void action.run(() => control.resend(referenceNumber, options), describeResult);
  };
  return (
    <div class="actions">
      <Button kind="primary" action={action} onClick={() => void set('paid')}>
        Set to paid
      </Button>
      <Form onSubmit={() => void set(status).then((isDone) => isDone && setStatus(''))}>
        <TextField label="Another status" value={status} onValue={setStatus} isRequired>
          <Button action={action}>Set</Button>
        </TextField>
      </Form>
      <Form onSubmit={resend}>
        <SelectField label="The last callback again" value={way} onValue={setWay} choices={ways}>
          <Button action={action}>Resend</Button>
        </SelectField>
      </Form>
      <ActionStatus action={action} />
    </div>
  );
}
