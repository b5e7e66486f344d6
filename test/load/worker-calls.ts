/** What a worker process can be asked to do. Arguments and results travel between processes. */
export type Calls = Readonly<Record<string, (argument: never) => unknown>>;

/** A call on its way to a worker. */
export interface CallMessage {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

/** The result of a call. */
export type AnswerMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string };

/** In a worker process: does what it is asked to. */
export function serveCalls(calls: Calls): void {
  const answer = async ({ id, name, argument }: CallMessage): Promise<AnswerMessage> => {
    try {
      return { id, value: await calls[name]?.(argument as never) };
    } catch (error) {
      return { id, failure: error instanceof Error ? String(error.stack) : String(error) };
    }
  };
  process.on('message', async (message: CallMessage) => {
    process.send?.(await answer(message));
  });
  // The run has ended, and nothing else would end this process.
  process.once('disconnect', () => process.exit());
}
