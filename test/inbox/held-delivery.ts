import type { CallbackInbox, InboxEvent, InboxOutcome } from '../../src/store/inbox.js';

/** A delivery whose work has begun and ends when the test says so. */
export interface HeldDelivery {
  readonly signal: AbortSignal;
  readonly result: Promise<InboxOutcome>;
  complete(): Promise<InboxOutcome>;
  fail(error: Error): Promise<InboxOutcome>;
}

/** Rejects when the work is not begun. */
export async function hold(inbox: CallbackInbox, event: InboxEvent): Promise<HeldDelivery> {
  let complete = () => {};
  let fail = (_error: Error) => {};
  const end = new Promise<void>((resolve, reject) => {
    complete = resolve;
    fail = reject;
  });
  let result: Promise<InboxOutcome> | undefined;
  const signal = await new Promise<AbortSignal>((begun, notBegun) => {
    result = inbox.process(event, (context) => {
      begun(context.signal);
      return end;
    });
    result.then((outcome) => notBegun(new Error(`The work was not begun: ${outcome}`)), notBegun);
  });
  const settled = result as Promise<InboxOutcome>;
  return {
    signal,
    result: settled,
    complete: () => {
      complete();
      return settled;
    },
    fail: (error) => {
      fail(error);
      return settled;
    },
  };
}

/** Delivers with work that completes at once. */
export function deliver(inbox: CallbackInbox, event: InboxEvent): Promise<InboxOutcome> {
  return inbox.process(event, async () => {});
}
