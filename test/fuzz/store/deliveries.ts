import fc from 'fast-check';
import type { StatusChange } from '../../../src/store/callback-store.js';

/** One delivery of a change, and how its receiver wants failures to be handled. */
export interface Delivery {
  readonly order: string;
  readonly payment: string;
  /** Which of {@link CHANGES}. */
  readonly change: number;
  readonly parkAfter: number | undefined;
  readonly runParked: boolean;
}

// Two changes at one instant, some within one millisecond, one before 1970.
const CHANGES = [
  { us: 0, status: 'authorized' },
  { us: 1_000_000, status: 'paid' },
  { us: 1_000_000, status: 'authorized' },
  { us: 1_000_500, status: 'refunded' },
  { us: -5_000, status: 'paid' },
  { us: 2 ** 42 * 1000, status: 'paid' },
  { us: 1_000_200, status: 'authorized' },
] as const;

const { length } = CHANGES;

export const ORDERS = ['order-1', '__proto__', 'o{r}der é'] as const;
/** Of every order. The first is the one that the store creates. */
export const PAYMENTS = ['pay-1', 'p{a}y é'] as const;

export const keyOf = ({ change }: Delivery): string => `change-${change}`;
export const occurredAtUs = ({ change }: Delivery): number => CHANGES[change]?.us ?? 0;
export const isPaid = ({ change }: Delivery): boolean => CHANGES[change]?.status === 'paid';
export const nameOf = (delivery: Delivery): string =>
  JSON.stringify([delivery.order, delivery.payment, keyOf(delivery)]);

export function toStatusChange(delivery: Delivery): StatusChange {
  const { order, payment, change, parkAfter, runParked } = delivery;
  const us = occurredAtUs(delivery);
  const ms = Math.floor(us / 1000);
  const micros = String(us - ms * 1000).padStart(3, '0');
  return {
    key: keyOf(delivery),
    payment: {
      referenceNumber: payment,
      merchantPaymentReference: order,
      providerReference: '',
      status: CHANGES[change]?.status ?? '',
      createdAt: '1969-12-31T00:00:00Z',
      updatedAt: new Date(ms).toISOString().replace('Z', `${micros}Z`),
    },
    failures: { parkAfter, runParked },
  };
}

export function describeDelivery(delivery: Delivery): string {
  const { order, payment, parkAfter, runParked } = delivery;
  const parks = parkAfter === undefined ? [] : [`parkAfter ${parkAfter}`];
  const how = [...(runParked ? ['runParked'] : []), ...parks].map((one) => `, ${one}`).join('');
  return `${order}/${payment}/${keyOf(delivery)}${how}`;
}

// Few of each, so that deliveries meet.
export const deliveries: fc.Arbitrary<Delivery> = fc.record({
  order: fc.constantFrom(ORDERS[0], ORDERS[0], ...ORDERS),
  payment: fc.constantFrom(...PAYMENTS),
  change: fc.nat(length - 1),
  parkAfter: fc.constantFrom(undefined, 1, 2),
  runParked: fc.constantFrom(false, false, true),
});

/** Deliveries that say the same of their order in whatever turn they are settled. */
export const raced: fc.Arbitrary<readonly Delivery[]> = fc.array(
  deliveries.map((delivery) => ({
    ...delivery,
    payment: PAYMENTS[0],
    // What is `busy` may have told its status, or not: one that is newer than a `paid` would hide that.
    change: isPaid(delivery) || occurredAtUs(delivery) > 1_000_000 ? 0 : delivery.change,
  })),
  { minLength: 2, maxLength: 5 },
);
