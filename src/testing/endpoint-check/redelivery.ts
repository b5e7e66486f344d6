import { pause } from './deadline.js';
import type { Answer } from './endpoint.js';
import type { SignedRequest } from './signer.js';
import type { Stage } from './stage.js';
import { isAccepted } from './verdict.js';

/** How long to wait before each further delivery: about a second in all, whatever Retry-After says. */
const REDELIVERY_PAUSES_MS = [25, 50, 100, 200, 300, 300];

/** Delivers as the service does, until 2xx, and gives the last answer. */
export async function deliverUntilAccepted(stage: Stage, request: SignedRequest): Promise<Answer> {
  let answer = await stage.deliver(request);
  for (const milliseconds of REDELIVERY_PAUSES_MS) {
    if (isAccepted(answer)) break;
    await pause(milliseconds, stage.options.signal);
    answer = await stage.deliver(request);
  }
  return answer;
}
