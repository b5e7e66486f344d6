/** How many calls are under way at a time. */
export const IN_FLIGHT = 16;

/** A function that makes so many calls, sixteen at a time. */
export function inFlight(call) {
  return async (calls) => {
    let left = calls;
    const worker = async () => {
      while (left-- > 0) await call();
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  };
}
