import type { Paint } from '../colors.js';
import { describeAnswer } from '../delivery-text.js';
import { plainText } from '../plain-text.js';
import { readText } from './callback-request.js';
import type { Judgement } from './judgement.js';
import type { SentCallback } from './sent-callback.js';

/** A callback that was sent, and what the endpoint made of it. */
export interface JudgedCallback {
  readonly sent: SentCallback;
  readonly judgement: Judgement;
}

const SHOWN_CHARACTERS = 400;

/** A callback that was sent, for people: its headers and body, and the answer. */
export function describeSent({ sent, judgement }: JudgedCallback, paint: Paint): string[] {
  const { url, headers, rawBody, attempt, copy, response } = sent;
  const which = `${attempt > 1 ? `, attempt ${attempt}` : ''}${copy > 0 ? `, copy ${copy}` : ''}`;
  const answer = response?.body ?? '';
  return [
    `${sent.outcome === 'dropped' ? 'not sent' : 'sent'} to ${plainText(url)}${which}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${plainText(value)}`),
    `  ${shorten(readText(rawBody) ?? `${rawBody.byteLength} bytes that are no text`)}`,
    `answer: ${describeAnswer(sent, paint)}`,
    ...(answer === '' ? [] : [`  ${shorten(answer)}`]),
    ...(judgement.isAsExpected ? [] : [paint('red', `  expected: ${describeExpected(judgement)}`)]),
    '',
  ];
}

function shorten(text: string): string {
  const characters = [...text];
  const shown = plainText(characters.slice(0, SHOWN_CHARACTERS).join(''));
  return characters.length > SHOWN_CHARACTERS
    ? `${shown}… (${characters.length} characters)`
    : shown;
}

/** A callback that was sent, for JSON. */
export function toJsonSent({ sent, judgement }: JudgedCallback): object {
  const { rawBody, sentAt, latencyMs, ...rest } = sent;
  const text = readText(rawBody);
  return {
    ...rest,
    sentAt: sentAt.toISOString(),
    latencyMs: Math.round(latencyMs * 10) / 10,
    ...(text !== undefined && { rawBody: text }),
    rawBodyBase64: Buffer.from(rawBody).toString('base64'),
    ...judgement,
  };
}

/** One line on what went wrong; `undefined` when nothing did. */
export function describeFailure(all: readonly JudgedCallback[]): string | undefined {
  const wrong = all.filter(({ judgement }) => !judgement.isAsExpected);
  const [first] = wrong;
  if (first === undefined) return undefined;
  const { outcome, response, errorCode } = first.sent;
  const seen =
    response === undefined
      ? `gave no answer (${errorCode ?? outcome})`
      : `answered ${response.status}`;
  const others =
    wrong.length > 1 ? `, and ${wrong.length - 1} more were not as they should be` : '';
  return `the endpoint ${seen}, but ${describeExpected(first.judgement)}${others}`;
}

function describeExpected({ expected, reason }: Judgement): string {
  if (expected === 'refused') {
    return `a callback that fails verification with ${reason} must be refused with 4xx, best 401`;
  }
  if (expected === 'any') return 'a callback without content-type must be answered with 2xx or 4xx';
  return 'a callback in order must be accepted with 2xx';
}
