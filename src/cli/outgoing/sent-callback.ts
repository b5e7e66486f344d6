import type { DeliveryAttempt } from 'merchant-payments/mock-server';

/** One callback that was sent, and how it ended. */
export type SentCallback = Pick<
  DeliveryAttempt,
  | 'url'
  | 'attempt'
  | 'copy'
  | 'sentAt'
  | 'headers'
  | 'rawBody'
  | 'outcome'
  | 'response'
  | 'errorCode'
  | 'latencyMs'
  | 'fault'
>;
