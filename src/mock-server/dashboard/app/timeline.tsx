import { useId } from 'preact/hooks';
import type {
  ControlAttempt,
  ControlDelivery,
  ControlPayment,
} from '../../control/control-types.js';
import { ActionStatus, Button, useAction } from './action.js';
import { control } from './control-client.js';
import {
  deliveryStates,
  describeNextRetry,
  describeOutcome,
  describeResult,
  isAsSigned,
  judgeAnswer,
  mergeTimeline,
  outcomeTones,
  writeCurlCommand,
} from './delivery-text.js';
import { Diagnose } from './diagnosis.js';
import { EditAndResend } from './edit-and-resend.js';
import { writeLatency } from './format.js';
import { MAX_DELIVERIES } from './live-data.js';
import type { Tone } from './status-kind.js';
import { Badge, Body, CopyButton, Details, Headers, RawText, StatusBadge } from './text.js';
import { serviceClock, Time } from './time.js';

interface TimelineProps {
  readonly payment: ControlPayment;
  readonly deliveries: readonly ControlDelivery[];
  readonly canAdvanceClock: boolean;
}

export function Timeline({ payment, deliveries, canAdvanceClock }: TimelineProps) {
  return (
    <section aria-labelledby="timeline-title">
      <h3 id="timeline-title">Timeline</h3>
      <ol class="timeline">
        {mergeTimeline(payment, deliveries).map((entry) =>
          entry.kind === 'delivery' ? (
            <li key={entry.delivery.id} class="entry delivery">
              <Delivery {...entry} canAdvanceClock={canAdvanceClock} />
            </li>
          ) : (
            <li key={`change ${entry.change.at}`} class="entry change">
              <p>
                {entry.isFirst ? 'Created with status' : 'Status set to'}{' '}
                <StatusBadge status={entry.change.status} />
              </p>
              <Time at={entry.change.at} />
            </li>
          ),
        )}
      </ol>
      {deliveries.length === MAX_DELIVERIES && (
        <p class="muted">Only the last {MAX_DELIVERIES} callbacks are shown.</p>
      )}
    </section>
  );
}

interface DeliveryProps {
  readonly delivery: ControlDelivery;
  /** Whether an earlier delivery was for the same change. */
  readonly isResend: boolean;
  readonly canAdvanceClock: boolean;
}

function Delivery({ delivery, isResend, canAdvanceClock }: DeliveryProps) {
  const titleId = useId();
  const action = useAction();
  const { id, status, state, attempts, edited } = delivery;
  const { label, tone, sign, sentence } = deliveryStates[state];
  const nextRetryAt = state === 'retrying' ? attempts.at(-1)?.nextRetryAt : undefined;

  const resend = () =>
    void action.run(async () => describeResult(await control.resendDelivery(id)));
  const advance = (dueAt: string) =>
    void action.run(async () => {
      const leftMs = Math.ceil(Date.parse(dueAt) - serviceClock.now());
      await control.advanceClock(Math.max(0, leftMs));
      return 'The clock was advanced; the attempt was made.';
    });

  return (
    <>
      <div class="entry-head">
        <h4 id={titleId}>
          Callback <StatusBadge status={status} />
          {isResend && <span class="muted"> resent</span>}
          {edited !== undefined && (
            <span class="muted">, edited{edited === 'kept' && ' after signing'}</span>
          )}
        </h4>
        <Badge text={label} tone={tone} sign={sign} />
        <Button isSmall action={action} describedBy={titleId} onClick={resend}>
          Resend this
        </Button>
      </div>
      <p class="muted">
        {sentence}{' '}
        {nextRetryAt !== undefined && (
          <strong>
            <Time at={nextRetryAt} write={describeNextRetry} />
          </strong>
        )}
      </p>
      {nextRetryAt !== undefined && canAdvanceClock && (
        <Button action={action} onClick={() => advance(nextRetryAt)}>
          Advance the clock to it
        </Button>
      )}
      <ActionStatus action={action} />
      {attempts.length > 0 && (
        <ol class="attempts">
          {attempts.map((attempt) => (
            <li key={attempt.id}>
              <Attempt attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const signs: Readonly<Partial<Record<Tone, string>>> = { good: '✓', bad: '✕' };

/** One POST to the merchant's endpoint: a line that opens to show what was sent and answered. */
function Attempt({ attempt }: { attempt: ControlAttempt }) {
  const { attempt: number, copy, fault, latencyMs, sentAt, outcome, response } = attempt;
  const verdict = judgeAnswer(attempt);
  const tone = verdict?.tone ?? outcomeTones[outcome];
  return (
    <Details
      class="row-details"
      summary={
        <>
          <span class="attempt-name">
            Attempt {number}
            {copy > 0 && `, copy ${copy}`}
          </span>
          <span class="facts">
            <Badge text={writeResult(attempt)} tone={tone} sign={signs[tone] ?? '–'} />
            {outcome !== 'dropped' && <span class="muted">{writeLatency(latencyMs)}</span>}
            {fault !== undefined && <Badge text={`fault: ${fault}`} tone="waiting" />}
            {verdict !== undefined && <span class={`${verdict.tone}-text`}>{verdict.text}</span>}
            <Time at={sentAt} />
          </span>
        </>
      }
    >
      <div class="details-body">
        <p>
          <code>POST {attempt.url}</code>: {describeOutcome(attempt)}.
        </p>
        <div class="form-row">
          <CopyButton label="Copy as curl" text={writeCurlCommand(attempt)} />
        </div>
        <Diagnose attempt={attempt} />
        <EditAndResend attempt={attempt} />
        <Headers headers={attempt.headers} />
        <Body label="Body" text={attempt.rawBody} />
        <SignedString attempt={attempt} />
        {response !== undefined && (
          <Body label={`Answer: HTTP ${response.status}`} text={response.body} />
        )}
      </div>
    </Details>
  );
}

/** Marks the signed prefix: an endpoint that refuses everything has usually left it out. */
function SignedString({ attempt }: { attempt: ControlAttempt }) {
  const { timestamp, signedString } = attempt;
  const prefix = `${timestamp}.`;
  return (
    <>
      <RawText label="Signed string" text={signedString} markedLength={prefix.length} />
      {isAsSigned(attempt) ? (
        <p class="muted">
          The signature covers the marked prefix (X-Timestamp and a full stop), then the body byte
          for byte.
        </p>
      ) : (
        <p class="waiting-text">
          What was sent differs from what was signed, because of the fault or the edit.
        </p>
      )}
    </>
  );
}

function writeResult({ outcome, response, errorCode }: ControlAttempt): string {
  if (response !== undefined) return `${response.status} ${outcome}`;
  if (outcome === 'timed-out') return 'timed out';
  return errorCode === undefined ? outcome : `${outcome}: ${errorCode}`;
}
