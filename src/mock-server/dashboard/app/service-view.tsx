import { useEffect, useState } from 'preact/hooks';
import type { ControlState } from '../../control/control-types.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import { TextField } from './field.js';
import { writeDateTime, writeDuration } from './format.js';
import { Card, Page } from './section.js';
import { CopyButton } from './text.js';
import { serviceClock, useClockText } from './time.js';

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
          <Facts service={service} />
          <Reset />
        </>
      )}
    </Page>
  );
}

function ClockPanel({ service }: { service: ControlState }) {
  const canAdvance = service.canAdvanceClock;
  const moved = describeMove(service);
  const [seconds, setSeconds] = useState('');
  const action = useAction();
  const now = useClockText(writeDateTime);
  const advance = (ms: number) =>
    void action.run(async () => {
      await control.advanceClock(ms);
      return `Advanced by ${writeDuration(ms)}. Everything due has been done.`;
    });

  return (
    <Card title="Clock">
      <p class="big-time">{now}</p>
      {moved !== undefined && <p class="waiting-text">The service’s clock is {moved}.</p>}
      <p class="muted" id="clock-hint">
        {canAdvance
          ? 'Retries and delays that are due by then happen at once.'
          : 'This clock can’t be moved from here: the mock was started with a custom clock. Omit the clock option, or pass createManualClock().'}
      </p>
      <div class="form-row">
        {STEPS.map(({ label, ms }) => (
          <Button
            key={label}
            isDisabled={!canAdvance}
            action={action}
            describedBy="clock-hint"
            onClick={() => advance(ms)}
          >
            Advance {label}
          </Button>
        ))}
      </div>
      <Form class="narrow" onSubmit={() => advance(Math.round(Number(seconds) * 1_000))}>
        <TextField
          label="Seconds"
          type="number"
          min="0"
          value={seconds}
          onValue={setSeconds}
          isRequired
          isDisabled={!canAdvance}
        >
          <Button isDisabled={!canAdvance} action={action}>
            Advance seconds
          </Button>
        </TextField>
      </Form>
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
    void action.run(async () => {
      const state = await control.setCallbackUrl(value === '' ? null : value);
      return state.callbackUrl === null
        ? 'Removed. Status changes send nothing now.'
        : 'Set. The next callback goes there.';
    });

  return (
    <Form class="narrow" onSubmit={() => save(url.trim())}>
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
export function describeMove({ aheadMs }: ControlState): string | undefined {
  const still = serviceClock.runs ? undefined : 'standing still';
  if (Math.abs(aheadMs) < NOTICED_MS) return still;
  const moved = `${writeDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return still === undefined ? moved : `${moved}, ${still}`;
}

/** A smaller difference may be the time that an answer takes. */
const NOTICED_MS = 1_000;

function Reset() {
  const [isConfirming, setConfirming] = useState(false);
  const action = useAction();
  const reset = () =>
    void action.run(async () => {
      setConfirming(false);
      await control.reset();
      return 'Everything was deleted, except settings and the clock.';
    });
  return (
    <Card title="Reset">
      <p class="muted">
        Deletes payments, requests, callbacks and faults, and cancels retries. Settings and the
        clock stay as they are.
      </p>
      <div class="form-row">
        {isConfirming ? (
          <>
            <Button kind="danger" action={action} onClick={reset}>
              Yes, delete everything
            </Button>
            <Button onClick={() => setConfirming(false)}>Cancel</Button>
          </>
        ) : (
          <Button kind="danger" action={action} onClick={() => setConfirming(true)}>
            Reset the mock
          </Button>
        )}
      </div>
      <ActionStatus action={action} />
    </Card>
  );
}

function Facts({ service }: { service: ControlState }) {
  const { url, version, signatureEncoding, retryScheduleMs, counts } = service;
  const schedule = retryScheduleMs.map(writeDuration).join(', then ');
  return (
    <Card title="This mock">
      <dl class="facts-list">
        <dt>Base URL for your client</dt>
        <dd>
          <code>{url}</code> <CopyButton label="Copy base URL" text={url} />
        </dd>
        <dt>Callback retries</dt>
        <dd>{schedule === '' ? 'none' : `after ${schedule}`}</dd>
        <dt>Signature encoding</dt>
        <dd>{signatureEncoding}</dd>
        <dt>Callback attempts so far</dt>
        <dd>{counts.deliveries}</dd>
        <dt>Version</dt>
        <dd>{version}</dd>
      </dl>
    </Card>
  );
}
