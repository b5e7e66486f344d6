import type { ControlAttempt } from '../../../control/control-types.js';
import { writeCurlCommand } from '../data/curl-command.js';
import { describeOutcome, judgeAnswer, outcomeTones, type Tone } from '../data/delivery-text.js';
import { writeLatency } from '../data/time-text.js';
import { Badge } from '../parts/badge.js';
import { CopyButton } from '../parts/copy-button.js';
import { RawText, writeHeaders } from '../parts/raw-text.js';
import { Time } from '../parts/time.js';

const signs: Readonly<Record<Tone, string>> = { good: '✓', bad: '✕', waiting: '–', neutral: '–' };

/** One POST to the merchant's endpoint: a line, and behind it all that was sent and answered. */
export function AttemptEntry({ attempt }: { attempt: ControlAttempt }) {
  const { attempt: number, copy, fault, latencyMs, sentAt, outcome } = attempt;
  const verdict = judgeAnswer(attempt);
  const tone = verdict?.tone ?? outcomeTones[outcome];
  return (
    <details class="row-details">
      <summary>
        <span class="attempt-name">
          Attempt {number}
          {copy > 0 && `, copy ${copy}`}
        </span>
        <span class="facts">
          <Badge text={writeResult(attempt)} tone={tone} sign={signs[tone]} />
          {outcome !== 'dropped' && <span class="muted">{writeLatency(latencyMs)}</span>}
          {fault !== undefined && <Badge text={`fault: ${fault}`} tone="waiting" />}
          {verdict !== undefined && <span class={`${verdict.tone}-text`}>{verdict.text}</span>}
          <Time at={sentAt} />
        </span>
      </summary>
      <div class="details-body">
        <p>
          <code>POST {attempt.url}</code>: {describeOutcome(attempt)}.
        </p>
        <CopyButton label="Copy as curl" text={writeCurlCommand(attempt)} />
        <RawText title="Headers" text={writeHeaders(attempt.headers)} />
        <RawText title="Body" text={attempt.rawBody} />
        <RawText title="String that was signed" text={attempt.signedString} />
        {isChanged(attempt) && (
          <p class="waiting-text">
            The fault made what was sent differ from what was signed: timestamp, full stop, body.
          </p>
        )}
        {attempt.response !== undefined && (
          <RawText title={`Answer: HTTP ${attempt.response.status}`} text={attempt.response.body} />
        )}
      </div>
    </details>
  );
}

function isChanged({ timestamp, rawBody, signedString }: ControlAttempt): boolean {
  return `${timestamp}.${rawBody}` !== signedString;
}

function writeResult({ outcome, response, errorCode }: ControlAttempt): string {
  if (response !== undefined) return `${response.status} ${outcome}`;
  if (outcome === 'timed-out') return 'timed out';
  return errorCode === undefined ? outcome : `${outcome}: ${errorCode}`;
}
