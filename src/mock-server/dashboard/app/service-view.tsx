import { useEffect, useState } from 'preact/hooks';
import type { ControlState } from '../../control/control-types.js';
import { control } from './control-client.js';
import { ActionStatus, Button, Card, Form, Page, TextField, useAction } from './controls.js';
import { writeDateTime, writeDuration } from './format.js';
import { useClockText } from './time.js';

const STEPS = [
  { label: '1 min', ms: 60_000 },
  { label: '1 h', ms: 3_600_000 },
  { label: '1 day', ms: 86_400_000 },
];

/** The service's clock and settings. */
export function ServiceView({ service }: { service: ControlState | undefined }) {
  return (
    <Page title="Service">
      {service === undefined ? (
        <p>Loading…</p>
      ) : (
        <>
          <ClockPanel service={service} />
          <Card title="Callbacks">
            <p class="muted">
              Where your code receives callbacks. A new URL applies to new callbacks; retries keep
              theirs.
            </p>
            <CallbackUrlForm callbackUrl={service.callbackUrl} />
          </Card>
          <Reset />
        </>
      )}
    </Page>
  );
}

function ClockPanel({ service }: { service: ControlState }) {
  const moved = describeMove(service);
  const action = useAction();
  const now = useClockText(writeDateTime);
  const advance = (ms: number) =>
    void action.run(
      () => control.advanceClock(ms),
      () => `Advanced by ${writeDuration(ms)}. Everything due has been done.`,
    );

  return (
    <Card title="Clock">
      <p class="now">{now}</p>
      {moved !== undefined && <p class="waiting-text">The service’s clock is {moved}.</p>}
      <p class="muted" id="clock-hint">
        Retries and delays that are due by then happen at once.
      </p>
      <div class="form-row">
        {STEPS.map(({ label, ms }) => (
          <Button key={label} action={action} describedBy="clock-hint" onClick={() => advance(ms)}>
            Advance {label}
          </Button>
        ))}
      </div>
      <ActionStatus action={action} />
    </Card>
  );
}

export function CallbackUrlForm({ callbackUrl }: { callbackUrl: string | null }) {
  const [url, setUrl] = useState(callbackUrl ?? '');
  const action = useAction();
  // Another page may set it, and the mock normalises it.
  useEffect(() => setUrl(callbackUrl ?? ''), [callbackUrl]);

  const save = (value: string) =>
    void action.run(
      () => control.setCallbackUrl(value || null),
      (state) =>
        state.callbackUrl === null
          ? 'Removed. Status changes send nothing now.'
          : 'Set. The next callback goes there.',
    );

  return (
    <Form onSubmit={() => save(url.trim())}>
      <TextField
        label="Callback URL"
        value={url}
        onValue={setUrl}
        placeholder="http://127.0.0.1:3000/callbacks/payments"
      >
        <Button kind="primary" action={action}>
          Set
        </Button>
        {callbackUrl !== null && (
          <Button action={action} onClick={() => save('')}>
            Remove
          </Button>
        )}
      </TextField>
      <ActionStatus action={action} />
    </Form>
  );
}

/** Describes how the service's clock differs from the system's; `undefined` when it does not. */
export function describeMove({ aheadMs, clockRuns }: ControlState): string | undefined {
  const still = clockRuns ? undefined : 'standing still';
  if (Math.abs(aheadMs) < NOTICED_MS) return still;
  const moved = `${writeDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return still === undefined ? moved : `${moved}, ${still}`;
}

/** A smaller difference may be the time that an answer takes. */
const NOTICED_MS = 1_000;

function Reset() {
  const action = useAction();
  const reset = () => {
    if (!window.confirm('Delete all payments, requests, callbacks and faults of the mock?')) return;
    void action.run(control.reset, () => 'Everything was deleted, except settings and the clock.');
  };
  return (
    <Card title="Reset">
      <p class="muted">
        Deletes payments, requests, callbacks and faults, and cancels retries. Settings and the
        clock stay as they are.
      </p>
      <div class="form-row">
        <Button kind="danger" action={action} onClick={reset}>
          Reset the mock
        </Button>
      </div>
      <ActionStatus action={action} />
    </Card>
  );
}
