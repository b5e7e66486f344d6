import type { ControlFault } from '../../../control/control-types.js';
import { control } from '../data/control-client.js';
import { describeFault } from '../data/fault-catalogue.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { Badge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { FaultForm } from './fault-form.js';

/** What is to go wrong, and how often still. */
export function FaultsView({ faults }: { faults: readonly ControlFault[] | undefined }) {
  const action = useAction();
  const clear = () =>
    action.run(async () => {
      await control.clearFaults();
      return 'Cleared.';
    });

  return (
    <section class="page" aria-labelledby="faults-title">
      <h2 id="faults-title">Faults</h2>
      <p class="muted">
        Each request, and each attempt to deliver a callback, takes at most one fault: the oldest
        that fits.
      </p>
      <section class="card" aria-labelledby="pending-title">
        <div class="card-head">
          <h3 id="pending-title">Pending</h3>
          {faults !== undefined && faults.length > 0 && (
            <Button kind="danger" isBusy={action.isRunning} onClick={() => void clear()}>
              Clear all
            </Button>
          )}
        </div>
        {faults === undefined ? <p>Loading…</p> : <Pending faults={faults} />}
        <ActionStatus action={action} />
      </section>
      <FaultForm />
    </section>
  );
}

function Pending({ faults }: { faults: readonly ControlFault[] }) {
  if (faults.length === 0) return <p class="empty">None: everything works.</p>;
  return (
    <ol class="rows">
      {faults.map((fault, index) => (
        // They have no name of their own, and nothing in a row has state.
        <li key={index} class="fault">
          <p>
            <Badge text={`on ${fault.on}`} /> <strong>{fault.type}</strong>{' '}
            <span class="left">{describeTimes(fault.times)}</span>
          </p>
          <p class="muted">{describeFault(fault)}</p>
          <Fields title="With" fields={ownFields(fault)} />
          <Fields title="Only for" fields={fault.match ?? {}} />
        </li>
      ))}
    </ol>
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
          {name} <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
        </span>
      ))}
    </p>
  );
}

function ownFields({ on, type, times, match, ...own }: ControlFault): object {
  return own;
}

function describeTimes(times: number | 'unlimited' | undefined): string {
  if (times === 'unlimited') return 'until cleared';
  return times === undefined || times === 1 ? 'once more' : `${times} times more`;
}
