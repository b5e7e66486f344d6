import { CallbackVerificationError, describeIssues, type Issue } from '../errors.js';

// Why a callback is refused, in words. None quotes a header, the body or a secret.

/** The remedy for a body that is not the bytes as received. */
export const HOW_TO_GET_THE_BYTES =
  "In Express use express.raw({ type: 'application/json' }) on this route, elsewhere see docs/frameworks.md";

/** Where each refusal is described, in the package and on the site. */
const PAGE = '(docs/errors.md#callbacks)';

export const rawBodyRequired = (received: string): CallbackVerificationError =>
  new CallbackVerificationError(
    'RAW_BODY_REQUIRED',
    `rawBody must be the bytes of the request; received ${received}. ${HOW_TO_GET_THE_BYTES}`,
  );

/** One of the two headers that sign a callback. */
export type SigningHeader = 'X-Timestamp' | 'X-Signature';

export const missingHeader = (header: SigningHeader): CallbackVerificationError =>
  new CallbackVerificationError(
    header === 'X-Timestamp' ? 'MISSING_TIMESTAMP' : 'MISSING_SIGNATURE',
    `The ${header} header is missing; pass the headers of the request as received, and check that no proxy drops it ${PAGE}`,
  );

/** @param why what it must be, to follow "must be" */
export const invalidHeader = (header: SigningHeader, why: string): CallbackVerificationError =>
  new CallbackVerificationError(
    header === 'X-Timestamp' ? 'INVALID_TIMESTAMP' : 'INVALID_SIGNATURE',
    `${header} must be ${why}`,
  );

/** @param clock what the timestamp was compared with */
export function outsideWindow(
  skewSeconds: number,
  toleranceSeconds: number,
  clock: string,
): CallbackVerificationError {
  const direction = skewSeconds < 0 ? 'ahead of' : 'behind';
  return new CallbackVerificationError(
    'TIMESTAMP_OUTSIDE_WINDOW',
    `X-Timestamp is ${Math.abs(skewSeconds)} s ${direction} ${clock}, more than the ${toleranceSeconds} s allowed; the callback was replayed or delayed, or a clock is wrong ${PAGE}`,
    { skewSeconds },
  );
}

/** @param encoding the request's content-encoding, if it has one */
export function signatureMismatch(
  secretCount: number,
  encoding: string | undefined,
): CallbackVerificationError {
  const secrets =
    secretCount === 1 ? 'the signing secret' : `any of the ${secretCount} signing secrets`;
  const compressed =
    encoding === undefined
      ? ''
      : `. The body has content-encoding ${encoding}: nothing may compress or inflate it on its way`;
  return new CallbackVerificationError(
    'SIGNATURE_MISMATCH',
    `X-Signature does not match the body under ${secrets}: check MERCHANT_PAYMENTS_SIGNING_SECRET, and that nothing parses the body first; npx merchant-payments callback verify tells why${compressed} ${PAGE}`,
  );
}

/** @param why to follow "the body" */
export const unusableBody = (why: string): CallbackVerificationError =>
  invalidRecord([{ path: [], message: `the body ${why}` }]);

export const invalidRecord = (issues: readonly Issue[]): CallbackVerificationError =>
  new CallbackVerificationError(
    'INVALID_RECORD',
    `The callback is authentic, but its body is not a payment status record: ${describeIssues(issues)}`,
    { issues },
  );
