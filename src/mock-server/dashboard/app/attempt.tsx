import { useState } from 'preact/hooks';
import type { ControlAttempt, ControlDiagnosis } from '../../control/control-types.js';
import { control } from './control-client.js';
import {
  ActionStatus,
  Button,
  Checkbox,
  Form,
  TextArea,
  TextField,
  useAction,
} from './controls.js';
import {
  describeResponse,
  describeResult,
  isAsSigned,
  judgeAnswer,
  outcomeTones,
  writeCurlCommand,
} from './delivery-text.js';
import { writeLatency } from './format.js';
import { Badge, Body, CopyButton, Details, FaultBadge, Headers, RawText } from './texts.js';
import { Time } from './time.js';

interface AttemptProps {
  readonly attempt: ControlAttempt;
  readonly isOpen: boolean;
}

/** One POST to the merchant's endpoint: a line that says how it ended, and opens to show every byte. */
export function Attempt({ attempt, isOpen }: AttemptProps) {
  const { attempt: number, copy, fault, latencyMs, sentAt, outcome } = attempt;
  const { answerLine, response, hint } = attempt;
  const verdict = judgeAnswer(attempt);
  const tone = verdict?.tone ?? outcomeTones[outcome];
  const signs: Readonly<Record<string, string>> = { good: '✓', bad: '✕' };
  return (
    <Details
      class="row-details"
      isOpen={isOpen}
      summary={
        <>
          <span class="attempt-name">
            Attempt {number}
            {copy > 0 && `, copy ${copy}`}
          </span>
          <span class="facts">
            <Badge text={writeResult(attempt)} tone={tone} sign={signs[tone] ?? '–'} />
            <FaultBadge fault={fault} />
            {verdict !== undefined && <span class={`${verdict.tone}-text`}>{verdict.text}</span>}
            {answerLine !== undefined && <bdi class="said">{answerLine}</bdi>}
            {outcome !== 'dropped' && <span class="muted">{writeLatency(latencyMs)}</span>}
          </span>
          <Time at={sentAt} />
        </>
      }
    >
      <div class="details-body">
        {hint !== undefined && <p class="finding bad">{hint}</p>}
        {response !== undefined && (
          <Body label={`Answer: HTTP ${response.status}`} text={response.body} />
        )}
        <SignedText attempt={attempt} />
        <Headers headers={attempt.headers} />
        <Body label="Body" text={attempt.rawBody} />
        <p class="muted">
          Sent to <code>{attempt.url}</code>
        </p>
        <div class="form-row">
          <CopyButton label="Copy as curl" text={writeCurlCommand(attempt)} />
        </div>
        <Diagnose attempt={attempt} />
        <EditAndResend attempt={attempt} />
      </div>
    </Details>
  );
}

interface AttemptOnly {
  readonly attempt: ControlAttempt;
}

/** Marks the signed prefix: an endpoint that refuses everything has usually left it out. */
function SignedText({ attempt }: AttemptOnly) {
  const { timestamp, signedString } = attempt;
  return (
    <>
      <RawText label="Signed text" text={signedString} mark={`${timestamp}.`} />
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

/** Diagnoses an attempt as it was sent. */
function Diagnose({ attempt }: AttemptOnly) {
  const [secret, setSecret] = useState('');
  const [diagnosis, setDiagnosis] = useState<ControlDiagnosis | undefined>(undefined);
  const action = useAction();
  const diagnose = () =>
    void action.run(
      () => control.diagnose(attempt.id, secret || undefined),
      (found) => {
        setDiagnosis(found);
        const { length } = found.findings;
        return length === 1 ? 'One finding.' : `${length === 0 ? 'No' : length} findings.`;
      },
    );
  return (
    <Details class="tool" summary="Diagnose">
      <Form onSubmit={diagnose}>
        <TextField
          label="Signing secret of your endpoint (default: the mock’s)"
          value={secret}
          onValue={setSecret}
        >
          <Button action={action}>Diagnose</Button>
        </TextField>
        <ActionStatus action={action} />
        {diagnosis?.verified && (
          <p class="good-text">
            ✓ The callback was valid when it was sent. If your endpoint refused it, look there: for
            another secret, a wrong clock, or a body that was parsed and serialised again.
          </p>
        )}
        {diagnosis !== undefined && diagnosis.findings.length > 0 && (
          <ul class="findings">
            {diagnosis.findings.map(({ code, message, remedy }) => (
              <li key={code} class="finding bad">
                <p>
                  <strong>{code}</strong>: {message}
                </p>
                <p>{remedy}</p>
              </li>
            ))}
          </ul>
        )}
      </Form>
    </Details>
  );
}

/** Resends a callback with a body that is edited here. */
function EditAndResend({ attempt }: AttemptOnly) {
  const [body, setBody] = useState(attempt.rawBody);
  const [isSigned, setSigned] = useState(true);
  const action = useAction();
  const edit = { body, signature: isSigned ? 'new' : 'kept' };
  const send = () =>
    void action.run(() => control.resendDelivery(attempt.deliveryId, edit), describeResult);

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

function writeResult(attempt: ControlAttempt): string {
  const { outcome, response } = attempt;
  if (response !== undefined) return `${response.status} ${outcome}`;
  const text = describeResponse(attempt);
  return outcome === 'failed' && text !== outcome ? `failed: ${text}` : text;
}
