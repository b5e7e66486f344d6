/** A name and a value, as they came. */
export type HeaderPair = readonly [name: string, value: string];

/** A callback as it was captured. */
export interface CapturedCallback {
  readonly headers: readonly HeaderPair[];
  readonly body: CapturedBody;
  /** What the reader of the capture should know, a line each. */
  readonly notes: readonly string[];
}

/**
 * - `bytes`: the body.
 * - `parsed`: a capture that holds JSON where the text of the body belongs.
 * - `none`: it is elsewhere; `remedy` says what to give.
 */
export type CapturedBody =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'none'; readonly remedy: string };
