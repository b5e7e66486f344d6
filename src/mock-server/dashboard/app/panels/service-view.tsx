import { useState } from 'preact/hooks';
import type { ControlState } from '../../../control/control-types.js';
import { control } from '../data/control-client.js';
import { useClockText } from '../data/service-clock.js';
import { writeDateTime, writeDuration } from '../data/time-text.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { TextField } from '../parts/field.js';
import { CallbackUrlForm } from './callback-url-form.js';

const STEPS = [
  { label: '1 min', ms: 60_000 },
  { label: '1 h', ms: 3_600_000 },
  { label: '1 day', ms: 86_400_000 },
];

/** The service's clock, and what can be set. */
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
              Where your code receives the callbacks. A change holds for callbacks that are begun
              after it; retries keep their address.
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
    action.run(async () => {
      await control.advanceClock(ms);
      return `Advanced by ${writeDuration(ms)}. What fell due was done.`;
    });

  return (
    <section class="card" aria-labelledby="clock-title">
      <h3 id="clock-title">Clock</h3>
      <p class="big-time">{now}</p>
      <p class="muted" id="clock-hint">
        {canAdvance
          ? 'Retries and delays that fall due on the way happen at once.'
          : 'This clock can’t be moved from here: the mock was started with a clock of its own. Leave its clock option out, or give createManualClock().'}
      </p>
      <div class="form-row">
        {STEPS.map(({ label, ms }) => (
          <Button
            key={label}
            isDisabled={!canAdvance}
            isBusy={action.isRunning}
            describedBy="clock-hint"
            onClick={() => void advance(ms)}
          >
            Advance {label}
          </Button>
        ))}
      </div>
      <form
        class="narrow"
        onSubmit={(event) => {
          event.preventDefault();
          void advance(Math.round(Number(seconds) * 1_000));
        }}
      >
        <TextField
          label="Seconds"
          type="number"
          min="0"
          value={seconds}
          onValue={setSeconds}
          isRequired
          isDisabled={!canAdvance}
        >
          <Button type="submit" isDisabled={!canAdvance} isBusy={action.isRunning}>
            Advance seconds
          </Button>
        </TextField>
      </form>
      <ActionStatus action={action} />
    </section>
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
