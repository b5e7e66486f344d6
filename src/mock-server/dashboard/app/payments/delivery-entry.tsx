import { useId } from 'preact/hooks';
import type { ControlDelivery } from '../../../control/control-types.js';
import { control } from '../data/control-client.js';
import { deliveryStates, describeNextRetry, describeResult } from '../data/delivery-text.js';
import { serviceClock } from '../data/service-clock.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { StateBadge, StatusBadge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Time } from '../parts/time.js';
import { AttemptEntry } from './attempt-entry.js';

interface DeliveryEntryProps {
  readonly delivery: ControlDelivery;
  /** Whether an earlier delivery was of the same change. */
  readonly isResend: boolean;
  readonly canAdvanceClock: boolean;
}

export function DeliveryEntry({ delivery, isResend, canAdvanceClock }: DeliveryEntryProps) {
  const titleId = useId();
  const action = useAction();
  const { id, status, state, attempts } = delivery;
  const nextRetryAt = state === 'retrying' ? attempts.at(-1)?.nextRetryAt : undefined;

  const advance = (dueAt: string) =>
    action.run(async () => {
      const leftMs = Math.ceil(Date.parse(dueAt) - serviceClock.now());
      await control.advanceClock(Math.max(0, leftMs));
      return 'The clock was advanced; the attempt was made.';
    });

  return (
    <>
      <div class="entry-head">
        <h4 id={titleId}>
          Callback <StatusBadge status={status} />
          {isResend && <span class="muted"> once more</span>}
        </h4>
        <StateBadge state={state} />
        <Button
          isBusy={action.isRunning}
          describedBy={titleId}
          onClick={() =>
            void action.run(async () => describeResult(await control.resendDelivery(id)))
          }
        >
          Resend this
        </Button>
      </div>
      <p class="muted">
        {deliveryStates[state].sentence}{' '}
        {nextRetryAt !== undefined && (
          <strong>
            <Time at={nextRetryAt} write={describeNextRetry} />
          </strong>
        )}
      </p>
      {nextRetryAt !== undefined && canAdvanceClock && (
        <Button isBusy={action.isRunning} onClick={() => void advance(nextRetryAt)}>
          Advance the clock to it
        </Button>
      )}
      <ActionStatus action={action} />
      {attempts.length > 0 && (
        <ol class="attempts">
          {attempts.map((attempt) => (
            <li key={attempt.id}>
              <AttemptEntry attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
