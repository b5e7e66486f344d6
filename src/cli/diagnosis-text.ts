import type { CallbackDiagnosis, CallbackFinding } from 'merchant-payments/testing';
import { plainText } from '../protocol/plain-text.js';
import { type Layout, labelledLines } from './layout.js';

/** Describes a diagnosis for people: the verdict, the record, what is wrong and what to do. */
export function describeDiagnosis(
  diagnosis: CallbackDiagnosis,
  { width, paint }: Layout,
): string[] {
  const { verified, error, findings } = diagnosis;
  const verdict = verified
    ? paint('green', 'verified: the callback is authentic, fresh, and a status record')
    : paint('red', `refused with ${error?.code}`);
  return [
    verdict,
    ...describeSignature(diagnosis, width),
    ...describePayment(diagnosis, width),
    ...findings.flatMap((finding) => describeFinding(finding, { width, paint })),
  ];
}

function describeSignature(
  { payment, secretIndex, error }: CallbackDiagnosis,
  width: number,
): string[] {
  // The first is the usual one.
  const which = secretIndex ? `, with signing secret ${secretIndex + 1}` : '';
  const isMissing = error?.code === 'MISSING_SIGNATURE';
  const unknown = isMissing ? 'missing' : 'does not match, and nothing that was tried explains it';
  const text =
    secretIndex === undefined
      ? unknown
      : `matches this callback${which}${payment ? '' : ', once the findings below are fixed'}`;
  return labelledLines('  signature  ', text, width);
}

function describePayment({ payment, verified }: CallbackDiagnosis, width: number): string[] {
  if (payment === undefined) return [];
  const warning = verified ? '' : ' (authentic, but refused: look at it, do not act on it)';
  const { status, merchantPaymentReference, referenceNumber, updatedAt } = payment;
  return [
    ['  status     ', `${status}${warning}`],
    ['  reference  ', merchantPaymentReference],
    ['  number     ', referenceNumber],
    ['  updated    ', updatedAt],
  ].flatMap(([label = '', text = '']) => labelledLines(label, plainText(text), width));
}

function describeFinding(
  { code, message, remedy }: CallbackFinding,
  { width, paint }: Layout,
): string[] {
  return [
    '',
    paint('yellow', code),
    ...labelledLines('  seen  ', plainText(message), width),
    ...labelledLines('  fix   ', plainText(remedy), width),
  ];
}
