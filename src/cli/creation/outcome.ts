import type { RequestOutcome } from 'merchant-payments';

const OUTCOMES: Readonly<Record<RequestOutcome, string>> = {
  'not-sent': 'Nothing was sent, so no payment was created',
  rejected: 'The service did not accept the request, so no payment was created',
  accepted: 'The service accepted the request: the payment exists, do not create it again',
  unknown:
    'It is unknown whether the payment was created: look for it before you try again, since a second try can create a second payment',
};

/** The error with what its `requestOutcome` means for the payment; any other error as it is. */
export function withOutcome(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'requestOutcome' in error)) return error;
  const outcome = OUTCOMES[error.requestOutcome as RequestOutcome];
  return new Error(`${String(error.code)}: ${error.message.replace(/\.$/, '')}. ${outcome}`);
}
