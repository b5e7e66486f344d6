import { useState } from 'preact/hooks';
import { control, type Draft } from '../data/control-client.js';
import {
  callbackFaults,
  type FaultEntry,
  type FaultField,
  readField,
  requestFaults,
} from '../data/fault-catalogue.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { SelectField, TextField } from '../parts/field.js';

type Target = 'request' | 'callback';

const catalogues: Readonly<Record<Target, Readonly<Record<string, FaultEntry>>>> = {
  request: requestFaults,
  callback: callbackFaults,
};
const targetLabels: Readonly<Record<Target, string>> = {
  request: 'Requests of your client',
  callback: 'Callbacks to your endpoint',
};

export function FaultForm() {
  const [on, setOn] = useState<Target>('request');
  const [types, setTypes] = useState({ request: 'lost-answer', callback: 'duplicate' });
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [times, setTimes] = useState('1');
  const [isUnlimited, setUnlimited] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const type = types[on];
  const entry = catalogues[on][type] ?? { line: '', fields: [] };

  const add = () =>
    action.run(async () => {
      await control.addFault({
        on,
        type,
        ...readFields(entry.fields, values),
        times: isUnlimited ? 'unlimited' : Number(times),
        ...(reference !== '' && { match: { merchantPaymentReference: reference } }),
      });
      return `Added: ${type}.`;
    });

  return (
    <form
      class="card"
      aria-labelledby="add-fault-title"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <h3 id="add-fault-title">Add a fault</h3>
      <fieldset>
        <legend>What goes wrong</legend>
        <div class="form-row">
          {(['request', 'callback'] as const).map((target) => (
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
          choices={Object.keys(catalogues[on])}
          hint={entry.line}
          onValue={(chosen) => {
            setTypes({ ...types, [on]: chosen });
            setValues({});
          }}
        />
        {entry.fields.map((field) => (
          <OwnField
            key={`${type}.${field.name}`}
            field={field}
            value={values[field.name]}
            onValue={(value) => setValues({ ...values, [field.name]: value })}
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
          <label class="choice">
            <input
              type="checkbox"
              checked={isUnlimited}
              onChange={({ currentTarget }) => setUnlimited(currentTarget.checked)}
            />
            Unlimited, until cleared
          </label>
        </div>
      </div>
      <Button type="submit" kind="primary" isBusy={action.isRunning}>
        Add fault
      </Button>
      <ActionStatus action={action} />
    </form>
  );
}

interface OwnFieldProps {
  readonly field: FaultField;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
}

function OwnField({ field, value, onValue }: OwnFieldProps) {
  const { label, kind, choices } = field;
  if (choices !== undefined) {
    return (
      <SelectField
        label={label}
        value={value ?? choices[0] ?? ''}
        choices={choices}
        onValue={onValue}
      />
    );
  }
  return (
    <TextField
      label={field.default === undefined ? label : `${label} (${field.default} if empty)`}
      type={kind === 'number' ? 'number' : 'text'}
      value={value ?? ''}
      onValue={onValue}
      isRequired={field.default === undefined}
    />
  );
}

function readFields(
  fields: readonly FaultField[],
  values: Readonly<Record<string, string>>,
): Draft {
  return Object.fromEntries(
    fields.map((field) => [field.name, readField(field, values[field.name] ?? '')]),
  );
}
