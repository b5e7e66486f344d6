// What is checked: in each setting, which promises hold, and which documented limits show themselves. A setting
// defines the switches at the top of changes.pml; those that it does not name are 0. What is checked while more can go
// wrong is not checked again while less can.

const callbacks = [
  'one_work_at_a_time',
  'paid_is_kept',
  'one_payer',
  'order_shows_the_newest',
  'newest_stays',
  'order_gets_free',
];

export const settings = [
  {
    name: 'transaction',
    holds: ['acknowledged_is_done_or_listed', ...callbacks],
  },
  {
    name: 'transaction, its connection is lost',
    switches: { CUT: 1 },
    holds: [
      'recorded_once',
      'done_once',
      'done_means_processed',
      'failure_is_kept',
      'processed_is_not_listed',
    ],
    fails: ['one_work_at_a_time'],
  },
  {
    name: 'transaction, and a mail',
    switches: { SENDS_MAIL: 1 },
    fails: ['mailed_once'],
  },
  {
    name: 'transaction, parkAfter',
    switches: { PARKS: 1 },
    holds: ['acknowledged_is_done_or_listed', 'order_shows_the_newest'],
  },
  {
    name: 'lease',
    switches: { LEASE: 1 },
    holds: [...callbacks, 'failure_is_kept'],
    fails: ['done_once'],
  },
  {
    name: 'lease, suspended for longer',
    switches: { LEASE: 1, SUSPENDED: 1 },
    holds: ['recorded_once', 'acknowledged_is_done_or_listed', 'processed_is_not_listed'],
    fails: ['one_work_at_a_time', 'order_shows_the_newest'],
  },
];

/** Promises that something happens in the end: SPIN looks for a cycle in which it never does. */
const inTheEnd = new Set(['order_gets_free']);

export function isInTheEnd(claim) {
  return inTheEnd.has(claim);
}
