import { useState } from 'preact/hooks';
import type { ControlAttempt } from '../../control/control-types.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import {
  describeOutcome,
  describeResult,
  isAsSigned,
  judgeAnswer,
  outcomeTones,
  writeCurlCommand,
} from './delivery-text.js';
import { Diagnose } from './diagnosis.js';
import { Checkbox, TextArea } from './field.js';
import { writeLatency } from './format.js';
import type { Tone } from './status-kind.js';
import { Badge, Body, CopyButton, Details, Headers, RawText } from './text.js';
import { Time } from './time.js';

const signs: Readonly<Partial<Record<Tone, string>>> = { good: '✓', bad: '✕' };

/** One POST to the merchant's endpoint: a line that opens to show what was sent and answered. */
export function Attempt({ attempt }: { attempt: ControlAttempt }) {
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

/** Resends a callback with a body that is edited here. */
function EditAndResend({ attempt }: { attempt: ControlAttempt }) {
  const [body, setBody] = useState(attempt.rawBody);
  const [isSigned, setSigned] = useState(true);
  const action = useAction();
  const send = () =>
    void action.run(async () => {
      const signature = isSigned ? 'new' : 'kept';
      return describeResult(await control.resendEdited(attempt.deliveryId, { body, signature }));
    });

  return (
    <Details class="tool" summary="Edit and resend">
      <Form onSubmit={send}>
        <TextArea label="Body to send" value={body} onValue={setBody} />
        <Checkbox isChecked={isSigned} onCheck={setSigned}>
          Sign the edited body (otherwise it keeps the original signature, and your endpoint must
          refuse it)
        </Checkbox>
        <div class="form-row">
          <Button kind="primary" action={action}>
            Send edited
          </Button>
        </div>
        <ActionStatus action={action} />
      </Form>
    </Details>
  );
}

function writeResult({ outcome, response, errorCode }: ControlAttempt): string {
  if (response !== undefined) return `${response.status} ${outcome}`;
  if (outcome === 'timed-out') return 'timed out';
  return errorCode === undefined ? outcome : `${outcome}: ${errorCode}`;
}
