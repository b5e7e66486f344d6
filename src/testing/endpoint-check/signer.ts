import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { signCallbackBytes } from '../../mock-server/callbacks/sign.js';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';

/** A request to the endpoint, before it is sent. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface Signing {
  /** How far X-Timestamp lies ahead of this machine's clock; negative for the past. */
  readonly aheadSeconds?: number;
  /** X-Timestamp as it stands. */
  readonly timestamp?: string;
  readonly key?: KeyObject;
}

/** Signs callbacks as the service does (interface section 5.2), with what a check changes. */
export class Signer {
  readonly #key: KeyObject;
  readonly #encoding: SignatureEncoding;
  readonly #unit: 'seconds' | 'milliseconds';

  constructor(options: {
    readonly signingKey: KeyObject;
    readonly signatureEncoding: SignatureEncoding;
    readonly timestampUnit: 'seconds' | 'milliseconds';
  }) {
    this.#key = options.signingKey;
    this.#encoding = options.signatureEncoding;
    this.#unit = options.timestampUnit;
  }

  sign(content: object | string, signing: Signing = {}): SignedRequest {
    const {
      aheadSeconds = 0,
      timestamp = this.timestampOf(aheadSeconds),
      key = this.#key,
    } = signing;
    const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    const signature = signCallbackBytes({ timestamp, body, key, encoding: this.#encoding });
    return {
      headers: {
        'content-type': 'application/json',
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: signature,
      },
      body,
    };
  }

  timestampOf(aheadSeconds: number): string {
    const seconds = Math.floor(Date.now() / 1000) + aheadSeconds;
    return String(this.#unit === 'seconds' ? seconds : seconds * 1000);
  }

  /** The present in the unit that is not the endpoint's. */
  timestampInOtherUnit(): string {
    const now = Date.now();
    return String(this.#unit === 'seconds' ? now : Math.floor(now / 1000));
  }

  get unit(): 'seconds' | 'milliseconds' {
    return this.#unit;
  }
}

/** Replaces the value of X-Signature. */
export function withSignature({ headers, body }: SignedRequest, signature: string): SignedRequest {
  return { headers: { ...headers, [SIGNATURE_HEADER]: signature }, body };
}

/** A key that is nobody's. */
export function createForeignKey(): KeyObject {
  return createSecretKey(randomBytes(32));
}

/** Leaves a header out. */
export function withoutHeader(request: SignedRequest, header: string): SignedRequest {
  const kept = Object.entries(request.headers).filter(([name]) => name !== header);
  return { ...request, headers: Object.fromEntries(kept) };
}
