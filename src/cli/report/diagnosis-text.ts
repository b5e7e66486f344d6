import type { CallbackDiagnosis, CallbackFinding } from 'merchant-payments/testing';
import type { Paint } from '../colors.js';
import { plainText } from '../plain-text.js';
import { labelledLines, wrapText } from './wrap.js';

interface Layout {
  /** How many signing secrets were given: with one there is nothing to tell apart. */
  readonly secretCount: number;
  readonly width: number;
  readonly paint: Paint;
}

/** A diagnosis for people: the verdict, the record, what is wrong and what to do. */
export function describeDiagnosis(
  diagnosis: CallbackDiagnosis,
  { secretCount, width, paint }: Layout,
): string[] {
  const { verified, error, findings } = diagnosis;
  const verdict = verified
    ? paint('green', 'verified: the callback is authentic, fresh, and a status record')
    : paint('red', `refused with ${error?.code}`);
  // The first finding says the same, and what to do.
  const reason =
    error === undefined || findings.length > 0 ? [] : wrapText(plainText(error.message), width);
  return [
    verdict,
    ...reason,
    ...describeSignature(diagnosis, { secretCount, width }),
    ...describePayment(diagnosis, width),
    ...findings.flatMap((finding) => describeFinding(finding, { width, paint })),
  ];
}

function describeSignature(
  { signature, secretIndex }: CallbackDiagnosis,
  { secretCount, width }: Omit<Layout, 'paint'>,
): string[] {
  const isTold = secretIndex !== undefined && secretCount > 1;
  const which = !isTold ? '' : `, with signing secret ${secretIndex + 1}`;
  const told = {
    right: `matches this callback${which}`,
    explained: `matches this callback${which}, once the findings below are fixed`,
    unexplained: 'does not match, and nothing that was tried explains it',
    missing: 'missing',
  }[signature];
  return labelledLines({ label: '  signature  ', text: told, width });
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
  ].flatMap(([label = '', text = '']) => labelledLines({ label, text: plainText(text), width }));
}

function describeFinding(
  finding: CallbackFinding,
  { width, paint }: Omit<Layout, 'secretCount'>,
): string[] {
  const { code, message, remedy, tried } = finding;
  return [
    '',
    paint('yellow', code),
    ...labelledLines({ label: '  seen  ', text: plainText(message), width }),
    ...labelledLines({ label: '  fix   ', text: plainText(remedy), width }),
    ...(tried === undefined
      ? []
      : labelledLines({ label: '  tried ', text: plainText(tried.join('; ')), width })),
  ];
}
