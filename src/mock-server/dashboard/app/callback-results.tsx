import type { ControlCallback } from '../../control/control-types.js';
import { ActionStatus, Button, useAction } from './action.js';
import { control } from './control-client.js';
import { deliveryStates, describeResult } from './delivery-text.js';
import { writeCount } from './format.js';
import type { Tone } from './status-kind.js';
import { Badge } from './text.js';

/** Resends every callback of a group. */
export function ResendGroup({ group, count }: { group: 'failed' | 'not-sent'; count: number }) {
  const action = useAction();
  const resend = () =>
    void action.run(async () => {
      const { resent, acknowledged } = await control.resendGroup(group);
      return `Resent ${writeCount(resent)}, ${writeCount(acknowledged)} acknowledged.`;
    });
  return (
    <div class="resend-group">
      {count > 0 && (
        <Button kind="primary" action={action} onClick={resend}>
          {group === 'failed' ? 'Resend all failed' : 'Send all'}
        </Button>
      )}
      <ActionStatus action={action} />
    </div>
  );
}

/** Resends one callback. */
export function ResendOne({ callback }: { callback: ControlCallback }) {
  const action = useAction();
  const resend = () =>
    void action.run(async () => describeResult(await control.resendDelivery(callback.id)));
  return (
    <span data-resend>
      <Button isSmall action={action} onClick={resend}>
        Resend<span class="visually-hidden"> {callback.merchantPaymentReference}</span>
      </Button>
      <span class="visually-hidden">
        <ActionStatus action={action} />
      </span>
    </span>
  );
}

/** The state of a callback. Failures are red, even if a retry is due. */
export function CallbackState({ callback: { state, group } }: { callback: ControlCallback }) {
  const { label, sign, tone } = deliveryStates[state];
  const shown: Tone = group === 'failed' ? 'bad' : tone;
  return (
    <Badge text={label} tone={group === 'done' && tone === 'bad' ? 'neutral' : shown} sign={sign} />
  );
}

/** Describes the outcome of the last attempt in a few words. */
export function describeLast({ last, group, state }: ControlCallback): string {
  if (last === undefined) return '';
  const { outcome, response, errorCode } = last;
  if (group === 'failed' && state === 'acknowledged') return 'accepted a forged callback';
  if (response !== undefined) return `HTTP ${response.status}`;
  if (outcome === 'timed-out') return 'timed out';
  return errorCode ?? outcome;
}
