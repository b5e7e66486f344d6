import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasSubscribers } from '../../src/protocol/tracing.js';

const events = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

describe.each([
  { what: 'as Node has it', withoutGetter: false },
  { what: 'without hasSubscribers, as Bun has it', withoutGetter: true },
])('a tracing channel $what', ({ withoutGetter }) => {
  it.each(events)('has subscribers while a listener is subscribed to %s', (event) => {
    const channel = tracingChannel<unknown, object>(`test:${event}:${withoutGetter}`);
    const { start, end, asyncStart, asyncEnd, error } = channel;
    const seen = withoutGetter ? { start, end, asyncStart, asyncEnd, error } : channel;
    expect(hasSubscribers(seen)).toBe(false);
    const listener = () => undefined;
    channel[event].subscribe(listener);
    onTestFinished(() => void channel[event].unsubscribe(listener));
    expect(hasSubscribers(seen)).toBe(true);
  });
});
