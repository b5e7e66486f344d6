import type { PlainAnswer } from '../api/http-messages.js';
import { hintOf } from '../callbacks/answer-hints.js';
import type { DeliveryAttempt } from '../callbacks/delivery.js';
import type { CallbackDispatcher } from '../callbacks/dispatcher.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServiceOptions } from '../options.js';
import * as bodies from './control-bodies.js';
import { type ControlCall, controlAnswer, notFound } from './control-call.js';
import type { ControlDiagnosis } from './control-types.js';

interface CallbackSource {
  readonly service: MockService;
  readonly settings: ResolvedServiceOptions;
  readonly dispatcher: CallbackDispatcher;
}

/** Diagnoses an attempt as it was sent, with the secret of the mock or of the endpoint. */
export async function diagnoseAttempt(
  call: ControlCall,
  { service, settings, dispatcher }: CallbackSource,
): Promise<PlainAnswer> {
  const { attemptId, signingSecret } = bodies.readBody(bodies.diagnosis, call);
  const attempt = service.deliveries.find(({ id }) => id === attemptId);
  if (attempt === undefined) throw notFound('attempt', attemptId);
  const { headers, rawBody } = attempt;
  const { signatureEncoding, timestampUnit } = settings;
  const sentMs = dispatcher.signedAtMs(attempt);
  // Loaded on first use, so that the mock starts without it.
  const { diagnoseCallback } = await import('merchant-payments/testing');
  const diagnosis = diagnoseCallback(
    { headers, rawBody },
    {
      signingSecret: signingSecret ?? service.signingSecret,
      signatureEncoding,
      timestampUnit,
      ...(sentMs !== undefined && { now: () => sentMs }),
    },
  );
  const findings = [...listFaults(attempt), ...diagnosis.findings];
  return controlAnswer(200, { ...diagnosis, findings } satisfies ControlDiagnosis);
}

/** The fault that the mock itself applied explains everything that follows from it. */
function listFaults({ fault }: DeliveryAttempt): ControlDiagnosis['findings'] {
  const message = fault && hintOf({ outcome: 'refused', fault });
  if (message === undefined) return [];
  const remedy = 'Resend the callback without a fault, to see what your endpoint does with it.';
  return [{ code: 'mock-fault', message, remedy }];
}
