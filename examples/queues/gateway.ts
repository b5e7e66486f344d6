// Callbacks that API Gateway has put into SQS or EventBridge. The gateway has answered 200, so the service never
// sends them again, and each is verified as of the time at which the gateway took it in. A function behind SQS:
//
//   export const handler = sqsHandler(postgresStore(pool), async (payment, { tx, current }) => { … });

import type { EventBridgeEvent, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type PaymentStatusRecord, verifyCallback } from 'merchant-payments';
import type { CallbackStore, StoreContext } from 'merchant-payments/store';

interface TakenIn {
  readonly rawBody: string | Uint8Array;
  readonly headers: Record<string, string | undefined>;
  readonly receivedAt: Date;
}

/**
 * Integration SQS-SendMessage: MessageBody is $request.body, each header a MessageAttribute, and so is Received-At,
 * $context.requestTimeEpoch.
 */
export function fromSqs({ body, messageAttributes }: SQSRecord): TakenIn {
  return {
    rawBody: body,
    headers: {
      'x-timestamp': messageAttributes['X-Timestamp']?.stringValue,
      'x-signature': messageAttributes['X-Signature']?.stringValue,
    },
    // Not SentTimestamp, which is new when a message comes back from a dead-letter queue.
    receivedAt: new Date(Number(messageAttributes['Received-At']?.stringValue)),
  };
}

/** EventBridge parses its detail, so a mapping template writes the body in base64: $util.base64Encode($input.body). */
export function fromEventBridge({
  time,
  detail,
}: EventBridgeEvent<string, { body: string; timestamp: string; signature: string }>): TakenIn {
  return {
    rawBody: Buffer.from(detail.body, 'base64'),
    headers: { 'x-timestamp': detail.timestamp, 'x-signature': detail.signature },
    receivedAt: new Date(time),
  };
}

type OnPayment<Tx> = (payment: PaymentStatusRecord, context: StoreContext<Tx>) => Promise<void>;

/** Runs `onPayment` once for each change. If it throws, the queue must deliver the message again. */
export async function handle<Tx>(
  { receivedAt, ...request }: TakenIn,
  store: CallbackStore<Tx>,
  onPayment: OnPayment<Tx>,
): Promise<void> {
  const signingSecret = process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '';
  const { payment, key } = verifyCallback(request, { signingSecret, receivedAt });
  const { outcome, error } = await store.process({ key, payment }, (context) =>
    onPayment(payment, context),
  );
  if (outcome === 'failed') throw error;
  if (outcome === 'busy') throw new Error('another change of this order is being processed');
}

/** Needs ReportBatchItemFailures, and a dead-letter queue for what fails for good, such as a forged callback. */
export function sqsHandler<Tx>(store: CallbackStore<Tx>, onPayment: OnPayment<Tx>) {
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of Records) {
      try {
        await handle(fromSqs(record), store, onPayment);
      } catch (error) {
        console.error(record.messageId, error);
        batchItemFailures.push({ itemIdentifier: record.messageId });
      }
    }
    return { batchItemFailures };
  };
}
