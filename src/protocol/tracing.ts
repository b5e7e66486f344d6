interface Channel {
  readonly hasSubscribers: boolean;
}

/** The part of a tracing channel that is looked at. */
export interface ListenedChannel {
  /** Missing on Bun. */
  readonly hasSubscribers?: boolean | undefined;
  readonly start: Channel;
  readonly end: Channel;
  readonly asyncStart: Channel;
  readonly asyncEnd: Channel;
  readonly error: Channel;
}

/** Whether one of a tracing channel's events has a listener. */
export function hasSubscribers(channel: ListenedChannel): boolean {
  const { start, end, asyncStart, asyncEnd, error } = channel;
  return (
    channel.hasSubscribers ??
    [start, end, asyncStart, asyncEnd, error].some((event) => event.hasSubscribers)
  );
}
