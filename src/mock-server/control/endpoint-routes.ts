import type { PlainAnswer } from '../api/http-messages.js';
import type { CallbackDispatcher } from '../callbacks/dispatcher.js';
import type { MockService } from '../mock-service.js';
import type { ResolvedServiceOptions } from '../options.js';
import * as bodies from './control-bodies.js';
import {
  type ControlCall,
  ControlFailure,
  controlAnswer,
  notFound,
  type Route,
} from './control-call.js';
import { type EndpointCheckRun, loadTestingTools } from './endpoint-check-run.js';

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

  async function start(call: ControlCall): Promise<PlainAnswer> {
    const options = bodies.readBody(bodies.check, call);
    if (service.callbackUrl === undefined) {
      throw new ControlFailure(
        'CONFLICT',
        'There is no callbackUrl, so there is nothing to check; set it first',
      );
    }
    await run.start(service.callbackUrl, {
      ...options,
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

  async function diagnose(call: ControlCall): Promise<PlainAnswer> {
    const given = bodies.readBody(bodies.captured, call);
    const { attemptId, signingSecret = service.signingSecret } = given;
    const attempt = service.deliveries.find(({ id }) => id === attemptId);
    if (attemptId !== undefined && attempt === undefined) {
      throw notFound('attempt', attemptId);
    }
    const sentMs = attempt && dispatcher.signedAtMs(attempt);
    const { headers = attempt?.headers, body: rawBody = attempt?.rawBody } = given;
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
