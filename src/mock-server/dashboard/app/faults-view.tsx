import { useState } from 'preact/hooks';
import type { ControlFault } from '../../control/control-types.js';
import type { Fault } from '../../faults/fault.js';
import {
  defaultOf,
  type FaultParameter,
  type FaultTarget,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
} from '../../faults/fault-catalogue.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control, type Draft } from './control-client.js';
import { Checkbox, SelectField, TextField } from './field.js';
import { Card, Page } from './section.js';
import { Badge } from './text.js';

/** Describes what a fault of this type does, and what should follow. */
export function describeFault(type: Fault['type']): string {
  const entry = faultCatalogue[type];
  const text = `${entry.text.charAt(0).toUpperCase()}${entry.text.slice(1)}.`;
  if (entry.on === 'callback') return `${text} Your endpoint should ${entry.expects}.`;
  return `${text} ${entry.creates ? 'The payment is created.' : 'No payment is created.'}`;
}

export function FaultsView({ faults }: { faults: readonly ControlFault[] | undefined }) {
  const action = useAction();
  const hasFaults = faults !== undefined && faults.length > 0;
  const remove = ({ id, type }: ControlFault) =>
    void action.run(async () => {
      await control.removeFault(id);
      return `Removed: ${type}.`;
    });
  const clear = () =>
    void action.run(async () => {
      await control.clearFaults();
      return 'Cleared.';
    });

  return (
    <Page title="Faults">
      <p class="muted">
        At most one fault applies to each request and to each attempt to deliver a callback: the
        oldest that matches.
      </p>
      <Card
        title="Pending"
        actions={
          hasFaults && (
            <Button kind="danger" action={action} onClick={clear}>
              Clear all
            </Button>
          )
        }
      >
        {faults === undefined && <p>Loading…</p>}
        {faults?.length === 0 && <p class="empty">No faults: everything works.</p>}
        {hasFaults && (
          <ol class="rows">
            {faults.map((fault) => (
              <li key={fault.id} class="fault">
                <PendingFault fault={fault} />
                <Button isSmall action={action} onClick={() => remove(fault)}>
                  Remove<span class="visually-hidden"> {fault.type}</span>
                </Button>
              </li>
            ))}
          </ol>
        )}
        <ActionStatus action={action} />
      </Card>
      <FaultForm />
    </Page>
  );
}

function PendingFault({
  fault: { id: _, on, type, times, match, ...own },
}: {
  fault: ControlFault;
}) {
  return (
    <div>
      <p>
        <Badge text={`on ${on}`} tone={on === 'request' ? 'info' : 'returned'} />{' '}
        <strong>{type}</strong> <span>{describeTimes(times)}</span>
      </p>
      <p class="muted">{describeFault(type)}</p>
      <Fields title="With" fields={own} />
      <Fields title="Only for" fields={match ?? {}} />
    </div>
  );
}

function Fields({ title, fields }: { title: string; fields: object }) {
  const entries = Object.entries(fields);
  if (entries.length === 0) return null;
  return (
    <p>
      {title}{' '}
      {entries.map(([name, value], index) => (
        <span key={name}>
          {index > 0 && ', '}
          {name} <code>{asText(value)}</code>
        </span>
      ))}
    </p>
  );
}

function describeTimes(times: number | 'unlimited' | undefined): string {
  if (times === 'unlimited') return 'until cleared';
  return times === undefined || times === 1 ? 'once' : `${times} times`;
}

const targetLabels: Readonly<Record<FaultTarget, string>> = {
  request: 'Requests from your client',
  callback: 'Callbacks to your endpoint',
};

function FaultForm() {
  const [on, setOn] = useState<FaultTarget>('request');
  const [types, setTypes] = useState<Readonly<Record<FaultTarget, Fault['type']>>>({
    request: 'lost-answer',
    callback: 'duplicate',
  });
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [times, setTimes] = useState('1');
  const [isUnlimited, setUnlimited] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const type = types[on];
  const parameters = Object.entries(faultCatalogue[type].parameters ?? {});

  const add = () =>
    void action.run(async () => {
      await control.addFault({
        on,
        type,
        ...readParameters(parameters, values),
        times: isUnlimited ? 'unlimited' : Number(times),
        ...(reference !== '' && { match: { merchantPaymentReference: reference } }),
      });
      return `Added: ${type}.`;
    });

  return (
    <Form class="card" labelledBy="add-fault-title" onSubmit={add}>
      <h3 id="add-fault-title">Add a fault</h3>
      <fieldset>
        <legend>What goes wrong</legend>
        <div class="form-row">
          {faultTargets.map((target) => (
            <label key={target} class="choice">
              <input
                type="radio"
                name="fault-on"
                checked={on === target}
                onChange={() => {
                  setOn(target);
                  setValues({});
                }}
              />
              {targetLabels[target]}
            </label>
          ))}
        </div>
      </fieldset>
      <div class="form-grid">
        <SelectField
          label="Type"
          value={type}
          choices={faultTypesOn(on)}
          hint={describeFault(type)}
          onValue={(chosen) => {
            setTypes({ ...types, [on]: chosen });
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
        <TextField
          label="Only for the merchant reference (optional)"
          value={reference}
          onValue={setReference}
        />
        <div class="field">
          <TextField
            label="How often"
            type="number"
            min="1"
            value={times}
            onValue={setTimes}
            isRequired={!isUnlimited}
            isDisabled={isUnlimited}
          />
          <Checkbox isChecked={isUnlimited} onCheck={setUnlimited}>
            Unlimited, until cleared
          </Checkbox>
        </div>
      </div>
      <Button kind="primary" action={action}>
        Add fault
      </Button>
      <ActionStatus action={action} />
    </Form>
  );
}

interface ParameterProps {
  readonly parameter: FaultParameter;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
}

function Parameter({ parameter, value, onValue }: ParameterProps) {
  const { label, kind } = parameter;
  const defaultValue = defaultOf(parameter);
  if (kind === 'choice') {
    const { choices } = parameter;
    return (
      <SelectField
        label={label}
        value={value ?? String(defaultValue)}
        choices={choices}
        onValue={onValue}
      />
    );
  }
  return (
    <TextField
      label={defaultValue === undefined ? label : `${label} (default: ${asText(defaultValue)})`}
      type={kind === 'number' ? 'number' : 'text'}
      value={value ?? ''}
      onValue={onValue}
      isRequired={defaultValue === undefined}
    />
  );
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Empty fields are omitted. */
function readParameters(
  parameters: readonly (readonly [string, FaultParameter])[],
  values: Readonly<Record<string, string>>,
): Draft {
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
