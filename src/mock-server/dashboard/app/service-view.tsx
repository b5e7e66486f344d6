import { useEffect, useState } from 'preact/hooks';
import type { ControlState } from '../../control/control-types.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import { TextField } from './field.js';
import { CopyButton } from './text.js';
import { useClockText } from './time.js';
import { writeDateTime, writeDuration } from './time-text.js';

const STEPS = [
  { label: '1 min', ms: 60_000 },
  { label: '1 h', ms: 3_600_000 },
  { label: '1 day', ms: 86_400_000 },
];

/** The service's clock and settings. */
export function ServiceView({ service }: { service: ControlState | undefined }) {
  return (
    <section class="page" aria-labelledby="service-title">
      <h2 id="service-title">Service</h2>
      {service === undefined ? (
        <p>Loading…</p>
      ) : (
        <>
          <ClockPanel canAdvance={service.canAdvanceClock} />
          <section class="card" aria-labelledby="callback-title">
            <h3 id="callback-title">Callbacks</h3>
            <p class="muted">
              Where your code receives the callbacks. A change applies to callbacks that start after
              it; retries keep their address.
            </p>
            <CallbackUrlForm callbackUrl={service.callbackUrl} />
          </section>
          <Facts service={service} />
        </>
      )}
    </section>
  );
}

function ClockPanel({ canAdvance }: { canAdvance: boolean }) {
  const [seconds, setSeconds] = useState('');
  const action = useAction();
  const now = useClockText(writeDateTime);
  const advance = (ms: number) =>
    void action.run(async () => {
      await control.advanceClock(ms);
      return `Advanced by ${writeDuration(ms)}. Everything that was due is done.`;
    });

  return (
    <section class="card" aria-labelledby="clock-title">
      <h3 id="clock-title">Clock</h3>
      <p class="big-time">{now}</p>
      <p class="muted" id="clock-hint">
        {canAdvance
          ? 'Retries and delays that are due by then happen at once.'
          : 'This clock can’t be moved from here: the mock was started with another clock. Leave its clock option out, or give createManualClock().'}
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
    </section>
  );
}

/** Where callbacks go; empty for nowhere. */
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

function Facts({ service }: { service: ControlState }) {
  const { url, version, signatureEncoding, retryScheduleMs, counts } = service;
  const schedule = retryScheduleMs.map(writeDuration).join(', then ');
  return (
    <section class="card" aria-labelledby="facts-title">
      <h3 id="facts-title">This mock</h3>
      <dl class="facts-list">
        <dt>Base URL for your client</dt>
        <dd>
          <code>{url}</code> <CopyButton label="Copy base URL" text={url} />
        </dd>
        <dt>Retries of a callback</dt>
        <dd>{schedule === '' ? 'none' : `after ${schedule}`}</dd>
        <dt>Signature encoding</dt>
        <dd>{signatureEncoding}</dd>
        <dt>Callback attempts so far</dt>
        <dd>{counts.deliveries}</dd>
        <dt>Version</dt>
        <dd>{version}</dd>
      </dl>
    </section>
  );
}
