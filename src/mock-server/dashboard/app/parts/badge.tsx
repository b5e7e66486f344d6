import type { DeliveryState } from '../../../callbacks/delivery.js';
import { deliveryStates, type Tone } from '../data/delivery-text.js';

interface BadgeProps {
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly sign?: string | undefined;
}

/** A word in a coloured box. The word says all; the sign and the colour only help to find it. */
export function Badge({ text, tone = 'neutral', sign }: BadgeProps) {
  return (
    <span class={`badge ${tone}`}>
      {sign !== undefined && <span aria-hidden="true">{sign} </span>}
      <bdi>{text}</bdi>
    </span>
  );
}

/** A payment's status, which can be any text. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge text={status} tone={status === 'paid' ? 'good' : 'neutral'} />;
}

export function StateBadge({ state }: { state: DeliveryState }) {
  const { label, tone, sign } = deliveryStates[state];
  return <Badge text={label} tone={tone} sign={sign} />;
}
