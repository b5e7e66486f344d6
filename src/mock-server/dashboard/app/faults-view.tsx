import { useState } from 'preact/hooks';
import type { ControlFault } from '../../control/control-types.js';
import type { Fault } from '../../faults/fault.js';
import {
  defaultOf,
  type FaultParameter,
  faultCatalogue,
  faultTargets,
  faultTypesOn,
} from '../../faults/fault-catalogue.js';
import { control, type Draft } from './control-client.js';
import {
  ActionStatus,
  Button,
  Card,
  Checkbox,
  Form,
  Page,
  SelectField,
  TextField,
  useAction,
} from './controls.js';
import { Badge } from './texts.js';

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
    void action.run(
      () => control.removeFault(id),
      () => `Removed: ${type}.`,
    );
  const clear = () => void action.run(control.clearFaults, () => 'Cleared.');

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

function PendingFault({ fault }: { fault: ControlFault }) {
  const { id: _, on, type, times = 1, ...rest } = fault;
  const often = times === 'unlimited' ? 'until cleared' : `${times} times`;
  return (
    <div>
      <p>
        <Badge text={`on ${on}`} tone={on === 'request' ? 'info' : 'returned'} />{' '}
        <strong>{type}</strong> <span>{times === 1 ? 'once' : often}</span>
      </p>
      <p class="muted">{describeFault(type)}</p>
      {Object.keys(rest).length > 0 && <code>{JSON.stringify(rest)}</code>}
    </div>
  );
}

const types = faultTargets.flatMap(faultTypesOn);
const typeNames = Object.fromEntries(
  types.map((type) => [type, `${faultCatalogue[type].on}: ${type}`]),
);

function FaultForm() {
  const [type, setType] = useState<Fault['type']>('lost-answer');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [times, setTimes] = useState('1');
  const [isUnlimited, setUnlimited] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const parameters = Object.entries(faultCatalogue[type].parameters ?? {});

  const add = () => {
    const fault = {
      on: faultCatalogue[type].on,
      type,
      ...readParameters(parameters, values),
      times: isUnlimited ? 'unlimited' : Number(times),
      ...(reference !== '' && { match: { merchantPaymentReference: reference } }),
    };
    void action.run(
      () => control.addFault(fault),
      () => `Added: ${type}.`,
    );
  };

  return (
    <Card title="Add a fault">
      <Form onSubmit={add}>
        <div class="form-grid">
          <SelectField
            label="Type"
            value={type}
            choices={types}
            names={typeNames}
            hint={describeFault(type)}
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
    </Card>
  );
}

function Parameter({
  parameter,
  value,
  onValue,
}: {
  parameter: FaultParameter;
  value: string | undefined;
  onValue: (value: string) => void;
}) {
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
