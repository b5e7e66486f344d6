// What is checked: in each setting, which promises hold, and which documented limits show themselves. A setting
// defines the switches at the top of its model; those that it does not name are 0. What is checked while more can go
// wrong is not checked again while less can.

/** Nobody resolves, and nothing but recover() follows a crash. */
const senders = [
  'one_payment',
  'one_call_at_a_time',
  'never_sent_again',
  'known_or_listed',
  'created_stays',
  'callback_settles',
  'another_body_is_refused',
  'body_is_what_was_sent',
  'nothing_stays_sending',
  'recorded_is_sent',
];

const callbacks = [
  'one_work_at_a_time',
  'callback_settles',
  'paid_is_kept',
  'one_payer',
  'second_is_listed',
  'order_shows_the_newest',
  'newest_stays',
  'order_gets_free',
];

export const settings = [
  { model: 'payments', name: 'two customers, recover', holds: senders },
  {
    model: 'payments',
    name: 'and a person',
    switches: { PEOPLE: 1 },
    holds: [
      'one_payment',
      'never_sent_again',
      'known_or_listed',
      'created_stays',
      'callback_settles',
      'recover_leaves_rejected',
    ],
  },
  {
    model: 'payments',
    name: 'and two people',
    switches: { PEOPLE: 2 },
    holds: ['one_payment'],
  },
  {
    model: 'payments',
    name: 'a person who looks before it is listed and decides at once',
    switches: { PEOPLE: 1, HASTY: 1 },
    holds: ['one_payment'],
  },
  {
    model: 'payments',
    name: 'recover({ lookUp })',
    switches: { LOOKS_UP: 1 },
    holds: ['one_payment', 'never_sent_again', 'known_or_listed', 'looked_up_is_decided'],
  },
  {
    model: 'payments',
    name: 'recover({ lookUp }), and a person',
    switches: { LOOKS_UP: 1, PEOPLE: 1 },
    holds: ['one_payment', 'never_sent_again'],
  },
  {
    model: 'payments',
    name: 'idempotency',
    switches: { SENDS_AGAIN: 1, SAME_PAYMENT: 1 },
    holds: ['one_payment', 'created_stays', 'another_body_is_refused', 'body_is_what_was_sent'],
  },
  {
    model: 'payments',
    name: 'idempotency, of a service that makes a second one',
    switches: { SENDS_AGAIN: 1 },
    fails: ['one_payment'],
  },
  {
    model: 'payments',
    name: 'another program creates one too',
    switches: { OTHER_PROGRAM: 1 },
    holds: ['second_is_listed', 'paid_is_kept', 'one_payer', 'created_stays'],
    fails: ['one_payment'],
  },
  {
    model: 'payments',
    name: 'suspended before the socket',
    switches: { SUSPENDED: 1 },
    holds: ['one_payment', 'never_sent_again'],
  },
  {
    model: 'payments',
    name: 'suspended before the socket, and a person',
    switches: { SUSPENDED: 1, PEOPLE: 1 },
    fails: ['one_payment'],
  },
  {
    model: 'payments',
    name: 'suspended before the socket, and lookUp',
    switches: { SUSPENDED: 1, LOOKS_UP: 1 },
    fails: ['one_payment'],
  },
  {
    model: 'payments',
    name: 'a person who looks before it is listed and decides late',
    switches: { PEOPLE: 1, HASTY: 2 },
    fails: ['one_payment'],
  },
  {
    model: 'changes',
    name: 'transaction',
    holds: ['acknowledged_is_done_or_listed', ...callbacks],
  },
  {
    model: 'changes',
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
    model: 'changes',
    name: 'transaction, and a mail',
    switches: { SENDS_MAIL: 1 },
    fails: ['mailed_once'],
  },
  {
    model: 'changes',
    name: 'transaction, parkAfter',
    switches: { PARKS: 1 },
    holds: ['acknowledged_is_done_or_listed', 'order_shows_the_newest'],
  },
  {
    model: 'changes',
    name: 'lease',
    switches: { LEASE: 1 },
    holds: [...callbacks, 'failure_is_kept'],
    fails: ['done_once'],
  },
  {
    model: 'changes',
    name: 'lease, suspended for longer',
    switches: { LEASE: 1, SUSPENDED: 1 },
    holds: ['recorded_once', 'acknowledged_is_done_or_listed', 'processed_is_not_listed'],
    fails: ['one_work_at_a_time', 'order_shows_the_newest'],
  },
];

/** Promises that something happens in the end: SPIN looks for a cycle in which it never does. */
const inTheEnd = new Set([
  'nothing_stays_sending',
  'recorded_is_sent',
  'looked_up_is_decided',
  'order_gets_free',
]);

export function isInTheEnd(claim) {
  return inTheEnd.has(claim);
}
