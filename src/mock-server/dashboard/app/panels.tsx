import { useEffect, useState } from 'preact/hooks';
import type { ControlFault, ControlState } from '../../control/control-types.js';
import {
  defaultOf,
  type Fault,
  type FaultParameter,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
} from '../../faults/fault-catalogue.js';
import { control, createPayment } from './control-client.js';
import { ActionStatus, Button, Form, SelectField, TextField, useAction } from './controls.js';
import { useClockText, writeDuration, writeTimeNear } from './format.js';

/** Creates a payment by a request, so that the pending faults apply to it. */
export function CreatePanel({ count }: { count: number }) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [amount, setAmount] = useState('2500');
  const [currency, setCurrency] = useState('EUR');
  const action = useAction();
  const reference = typed ?? `order-${1001 + count}`;
  const create = () => {
    const payment = {
      merchantPaymentReference: reference,
      amount: Number(amount),
      currency,
    };
    void action.run(
      () => createPayment(payment),
      (said) => {
        setTyped(undefined);
        return said;
      },
    );
  };
  return (
    <Form onSubmit={create}>
      <div class="row">
        <TextField label="Merchant reference" value={reference} onValue={setTyped} isRequired />
        <TextField label="Amount" type="number" value={amount} onValue={setAmount} isRequired />
        <TextField label="Currency" value={currency} onValue={setCurrency} isRequired />
        <Button kind="primary" action={action}>
          Create
        </Button>
      </div>
      <ActionStatus action={action} />
    </Form>
  );
}

/** Describes what a fault of this type does, and what should follow. */
function describeFault(type: Fault['type']): string {
  const entry = faultCatalogue[type];
  const text = `${entry.text.charAt(0).toUpperCase()}${entry.text.slice(1)}.`;
  if (entry.on === 'callback') return `${text} Your endpoint should ${entry.expects}.`;
  return `${text} ${entry.creates ? 'The payment is created.' : 'No payment is created.'}`;
}

const types = faultTargets.flatMap((target) => faultTypesOn(target));

export function FaultsPanel({ faults }: { faults: readonly ControlFault[] }) {
  const [type, setType] = useState<Fault['type']>('lost-answer');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [times, setTimes] = useState('1');
  const [reference, setReference] = useState('');
  const action = useAction();
  const parameters = Object.entries(faultCatalogue[type].parameters ?? {});

  const add = () => {
    const fault = {
      on: faultCatalogue[type].on,
      type,
      ...readParameters(parameters, values),
      times: times === 'unlimited' ? times : Number(times),
      ...(reference !== '' && { match: { merchantPaymentReference: reference } }),
    };
    void action.run(
      () => control.addFault(fault),
      () => `Added: ${type}.`,
    );
  };
  const remove = ({ id }: ControlFault) =>
    void action.run(
      () => control.removeFault(id),
      () => 'Removed.',
    );
  const clear = () => void action.run(control.clearFaults, () => 'Cleared.');

  return (
    <>
      {faults.length === 0 && <p class="muted">No faults are pending: everything works.</p>}
      <ul class="faults">
        {faults.map((fault) => (
          <li key={fault.id}>
            <PendingFault fault={fault} />
            <Button action={action} onClick={() => remove(fault)}>
              Remove<span class="visually-hidden"> {fault.type}</span>
            </Button>
          </li>
        ))}
      </ul>
      {faults.length > 1 && (
        <Button kind="danger" action={action} onClick={clear}>
          Clear all
        </Button>
      )}
      <Form onSubmit={add}>
        <div class="row">
          <SelectField
            label="Next fault"
            value={type}
            choices={types}
            onValue={(chosen) => {
              setType(chosen as Fault['type']);
              setValues({});
            }}
          />
          {parameters.map(([name, parameter]) => (
            <Parameter
              key={`${type}.${name}`}
              parameter={parameter}
              value={values[name]}
              onValue={(value) => setValues({ ...values, [name]: value })}
            />
          ))}
          <SelectField
            label="Times"
            value={times}
            choices={['1', '2', '3', '5', '10', 'unlimited']}
            onValue={setTimes}
          />
          <TextField
            label="Only for the reference (optional)"
            value={reference}
            onValue={setReference}
          />
          <Button kind="primary" action={action}>
            Add fault
          </Button>
        </div>
        <p class="muted">{describeFault(type)}</p>
        <ActionStatus action={action} />
      </Form>
    </>
  );
}

function PendingFault({ fault }: { fault: ControlFault }) {
  const { id: _, on, type, times = 1, ...rest } = fault;
  const often = times === 'unlimited' ? 'until cleared' : `${times} times`;
  return (
    <span>
      <strong>{type}</strong> on the next {on}
      {times !== 1 && `, ${often}`}{' '}
      {Object.keys(rest).length > 0 && <code>{JSON.stringify(rest)}</code>}
    </span>
  );
}

interface ParameterProps {
  readonly parameter: FaultParameter;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
}

function Parameter({ parameter, value, onValue }: ParameterProps) {
  const { label, kind } = parameter;
  const standard = defaultOf(parameter);
  if (kind === 'choice') {
    const { choices } = parameter;
    return (
      <SelectField
        label={label}
        value={value ?? String(standard)}
        choices={choices}
        onValue={onValue}
      />
    );
  }
  return (
    <TextField
      label={label}
      type={kind === 'number' ? 'number' : 'text'}
      placeholder={typeof standard === 'object' ? JSON.stringify(standard) : String(standard ?? '')}
      value={value ?? ''}
      onValue={onValue}
      isRequired={standard === undefined}
    />
  );
}

/** Empty fields are omitted. */
function readParameters(
  parameters: readonly (readonly [string, FaultParameter])[],
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given = parameters.filter(([name]) => (values[name] ?? '') !== '');
  return Object.fromEntries(
    given.map(([name, { kind }]) => [name, readValue(kind, values[name] ?? '')]),
  );
}

function readValue(kind: FaultParameter['kind'], text: string): unknown {
  if (kind === 'number') return Number(text);
  if (kind !== 'json') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function CallbackUrlForm({ callbackUrl }: { callbackUrl: string | null }) {
  const [url, setUrl] = useState(callbackUrl ?? '');
  const action = useAction();
  // Another page may set it, and the mock normalises it.
  useEffect(() => setUrl(callbackUrl ?? ''), [callbackUrl]);
  const save = () =>
    void action.run(
      () => control.setCallbackUrl(url.trim() || null),
      (settings) =>
        settings.callbackUrl === null
          ? 'Removed. Status changes send nothing now.'
          : 'Set. The next callback goes there.',
    );
  return (
    <Form onSubmit={save}>
      <TextField
        label="Callback URL"
        value={url}
        onValue={setUrl}
        placeholder="http://127.0.0.1:3000/callbacks/payments"
      >
        <Button kind="primary" action={action}>
          Set
        </Button>
      </TextField>
      <ActionStatus action={action} />
    </Form>
  );
}

const STEPS = [
  { label: '1 min', ms: 60_000 },
  { label: '1 h', ms: 3_600_000 },
  { label: '1 day', ms: 86_400_000 },
];

/** A smaller difference may be the time that an answer takes. */
const NOTICED_MS = 1_000;

/** Describes how the service's clock differs from the system's; `undefined` when it does not. */
export function describeMove({ aheadMs, clockRuns }: ControlState): string | undefined {
  const still = clockRuns ? undefined : 'standing still';
  if (Math.abs(aheadMs) < NOTICED_MS) return still;
  const moved = `${writeDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return still === undefined ? moved : `${moved}, ${still}`;
}

const writeNow = (nowMs: number): string => writeTimeNear(nowMs, Date.now());

/** Where callbacks go, the service's clock, and a new start. */
export function SettingsPanel({ state }: { state: ControlState }) {
  const clock = useAction();
  const start = useAction();
  const now = useClockText(writeNow);
  const moved = describeMove(state);
  const advance = (ms: number) =>
    void clock.run(
      () => control.advanceClock(ms),
      () => `Advanced by ${writeDuration(ms)}. Everything due has been done.`,
    );
  const reset = () => {
    if (!window.confirm('Delete all payments, requests, callbacks and faults of the mock?')) return;
    void start.run(control.reset, () => 'Everything was deleted.');
  };
  return (
    <>
      <CallbackUrlForm callbackUrl={state.callbackUrl} />
      <p>
        The service’s time is <strong>{now}</strong>
        {moved !== undefined && <span class="waiting-text">, {moved}</span>}. Retries and delays
        that are due happen when you advance it:
      </p>
      <div class="row">
        {STEPS.map(({ label, ms }) => (
          <Button key={label} action={clock} onClick={() => advance(ms)}>
            Advance {label}
          </Button>
        ))}
        <Button kind="danger" action={start} onClick={reset}>
          Reset the mock
        </Button>
      </div>
      <ActionStatus action={clock} />
      <ActionStatus action={start} />
    </>
  );
}
