// What goes wrong, once, with the first request that creates a payment; every later request is served. In
// `expired-connection` the first request is served, to have a connection that is kept, and the second one fails.

/** @typedef {{ name: string, text: string, creates: boolean, answer?: object, cut?: string, waits?: boolean }} Fault */

const html = { 'content-type': 'text/html' };

/** @type {Fault[]} */
export const faults = [
  { name: 'refused', text: 'no server listens', creates: false },
  { name: 'reset-before', text: 'reset, nothing processed', creates: false, cut: 'before' },
  {
    name: 'expired-connection',
    text: 'a kept connection is reset as it is used again',
    creates: false,
    cut: 'before',
  },
  { name: 'reset-after', text: 'processed, then reset', creates: true, cut: 'before' },
  { name: 'no-answer', text: 'processed, answered after the deadline', creates: true, waits: true },
  { name: '500-before', text: '500, nothing processed', creates: false, answer: { status: 500 } },
  { name: '500-after', text: 'processed, then 500', creates: true, answer: { status: 500 } },
  {
    name: '503-retry-after',
    text: '503 with Retry-After, nothing processed',
    creates: false,
    answer: { status: 503, headers: { 'retry-after': '1' } },
  },
  {
    name: '429-retry-after',
    text: '429 with Retry-After, nothing processed',
    creates: false,
    answer: { status: 429, headers: { 'retry-after': '1' } },
  },
  {
    name: '408',
    text: 'processed, but a proxy answers 408',
    creates: true,
    answer: { status: 408 },
  },
  {
    name: 'truncated',
    text: '201, its JSON breaks off',
    creates: true,
    answer: { status: 201 },
    cut: 'inside',
  },
  { name: 'empty', text: '201 without a body', creates: true, answer: { status: 201, body: '' } },
  {
    name: 'html',
    text: '200 with the HTML of a captive portal, nothing processed',
    creates: false,
    answer: { status: 200, headers: html, body: '<!doctype html><title>Sign in</title>' },
  },
  {
    name: 'redirect',
    text: 'processed, then 303 to a page',
    creates: true,
    answer: {
      status: 303,
      headers: { location: '/checkout', ...html },
      body: '<a href="/checkout">Pay</a>',
    },
  },
];
