import type { PlainAnswer } from '../api/http-messages.js';
import type { CallbackDispatcher } from '../callbacks/dispatcher.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServiceOptions } from '../options.js';
import {
  assertOnly,
  type ControlCall,
  ControlFailure,
  controlAnswer,
  notFound,
  type Route,
} from './control-call.js';
import { type EndpointCheckRun, loadTestingTools } from './endpoint-check-run.js';

/** Options of `checkCallbackEndpoint` that a call may set. */
const CHECK_OPTIONS = ['countEffects', 'effectCounts', 'merchantPaymentReference'];

interface CallbackSource {
  readonly service: MockService;
  readonly settings: ResolvedServiceOptions;
  readonly dispatcher: CallbackDispatcher;
}

/** The part of the control interface that checks the merchant's endpoint and diagnoses a callback. */
export function endpointRoutes(
  run: EndpointCheckRun,
  { service, settings, dispatcher }: CallbackSource,
): readonly Route[] {
  const show = (status = 200) => controlAnswer(status, run.view());

  async function start({ body }: ControlCall): Promise<PlainAnswer> {
    assertOnly(body, ...CHECK_OPTIONS);
    if (service.callbackUrl === undefined) {
      throw new ControlFailure(
        'CONFLICT',
        'There is no callbackUrl, so there is nothing to check; set it first',
      );
    }
    // The check itself refuses invalid options.
    await run.start(service.callbackUrl, {
      ...body,
      signingSecret: service.signingSecret,
      signatureEncoding: settings.signatureEncoding,
      timestampUnit: settings.timestampUnit,
    });
    return show(202);
  }

  function cancel(): PlainAnswer {
    run.cancel();
    return show();
  }

  async function diagnose({ body }: ControlCall): Promise<PlainAnswer> {
    assertOnly(body, 'attemptId', 'headers', 'body', 'signingSecret');
    const { attemptId, signingSecret = service.signingSecret } = body;
    const attempt = service.deliveries.find(({ id }) => id === attemptId);
    if (attemptId !== undefined && attempt === undefined) {
      throw notFound('attempt', String(attemptId));
    }
    const sentMs = attempt && dispatcher.signedAtMs(attempt);
    const { headers = attempt?.headers, body: rawBody = attempt?.rawBody } = body;
    const { diagnoseCallback } = await loadTestingTools();
    const diagnosis = diagnoseCallback(
      { headers: headers as Record<string, string>, rawBody: rawBody as string },
      {
        signingSecret: signingSecret as string,
        signatureEncoding: settings.signatureEncoding,
        timestampUnit: settings.timestampUnit,
        ...(sentMs !== undefined && { now: () => sentMs }),
      },
    );
    return controlAnswer(200, diagnosis);
  }

  return [
    ['GET', '/check', () => show()],
    ['POST', '/check', start],
    ['DELETE', '/check', cancel],
    ['POST', '/diagnose', diagnose],
  ];
}
