import { useMemo } from 'preact/hooks';
import { control } from './control-client.js';
import { Button, useAction } from './controls.js';
import { serviceNow, Time, writeCountdown } from './format.js';
import { describeResult, type Line } from './lines.js';
import { Badge, StatusBadge } from './texts.js';

/** The address of a line: its payment, or itself. */
export const hashOf = ({ payment, key }: Line): string =>
  payment === undefined ? `#/${key}` : `#/${payment}/${key}`;

/** One line for each event. Each kind of content has its own column, on a narrow page too. */
export function Stream({ lines, opened }: { lines: readonly Line[]; opened: string | undefined }) {
  return (
    <ol class="stream">
      {lines.map((line) => (
        <StreamLine key={line.key} line={line} isOpened={line.key === opened} />
      ))}
    </ol>
  );
}

function StreamLine({ line, isOpened }: { line: Line; isOpened: boolean }) {
  const { at, what, order, price, status, answer, why, fault, nextRetryAt, key } = line;
  // Of hundreds of lines, few change at a time.
  return useMemo(
    () => (
      <li class={isOpened ? 'line opened' : 'line'}>
        <Time at={at} />
        <span class="what">{what}</span>
        <a class="order" href={hashOf(line)} aria-current={isOpened ? 'true' : undefined}>
          <bdi>{order || 'no reference'}</bdi>
        </a>
        <span class="price">{price}</span>
        <span class="status">{status !== undefined && <StatusBadge status={status} />}</span>
        <span class="answer">
          <Badge text={answer.text} tone={answer.tone} sign={signs[answer.tone]} />
        </span>
        <span class="why" title={why}>
          {fault !== undefined && <span class="fault">fault {fault} </span>}
          <bdi class={answer.tone === 'bad' ? 'bad-text' : undefined}>{why}</bdi>
        </span>
        <span class="next">
          {nextRetryAt !== undefined && <NextTry line={line} at={nextRetryAt} />}
        </span>
      </li>
    ),
    [key, isOpened, price, status, answer.text, answer.tone, why, fault, nextRetryAt],
  );
}

const signs: Readonly<Record<string, string>> = { good: '✓', bad: '✕', waiting: '…' };

/** When a callback is tried again; a click makes it happen now. */
export function NextTry({ line, at }: { line: Line; at: string }) {
  const action = useAction();
  const advance = () =>
    void action.run(
      () => control.advanceClock(Math.max(0, Math.ceil(Date.parse(at) - serviceNow()))),
      () => '',
    );
  return (
    <Button action={action} onClick={advance}>
      <span aria-hidden="true">↻ </span>
      <span class="visually-hidden">Advance the clock to the next try of {line.order}: </span>
      <Time at={at} write={writeCountdown} />
    </Button>
  );
}

/** Resends a callback as it was. */
export function ResendButton({ deliveryId }: { deliveryId: string }) {
  const action = useAction();
  const resend = () => void action.run(() => control.resend(deliveryId), describeResult);
  return (
    <>
      <Button action={action} onClick={resend}>
        Resend this
      </Button>
      <span role="status">{action.error ?? action.result}</span>
    </>
  );
}
