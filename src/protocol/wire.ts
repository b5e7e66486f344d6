/** Callback headers (interface section 4.2), in lower case, as Node and Fetch give them. */
export const TIMESTAMP_HEADER = 'x-timestamp';
export const SIGNATURE_HEADER = 'x-signature';

/** Encodings of the 32-byte digest in X-Signature. The interface does not say which one the service uses. */
export type SignatureEncoding = 'hex' | 'base64' | 'base64url';

/** Unit of X-Timestamp. The interface does not say which one the service uses. */
export type TimestampUnit = 'seconds' | 'milliseconds';

export const signatureEncodings: readonly SignatureEncoding[] = ['hex', 'base64', 'base64url'];
