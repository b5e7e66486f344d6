/** The signing secret of the cases. */
export const SECRET = 'whsec_of_the_runtimes';

/** The clock of the cases that have a frozen one, in epoch seconds. */
export const NOW_SECONDS = 1_769_860_805;

const encoder = new TextEncoder();

const record = {
  referenceNumber: '5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90',
  merchantPaymentReference: 'order-1001 🧾 č',
  providerReference: 'prov-77',
  status: 'paid',
  createdAt: '2026-01-31T12:00:00.000+00:00',
  updatedAt: '2026-01-31T12:00:05.000+00:00',
};

/** A record as the service writes it, with other fields where they are given. */
export function recordText(fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ ...record, ...fields });
}

export interface SignedCallback {
  readonly rawBody: Uint8Array<ArrayBuffer>;
  readonly headers: Record<string, string>;
}

/** Signs as the service does, by WebCrypto, which every runtime has. */
export async function sign(
  body: string | Uint8Array = recordText(),
  { secret = SECRET, timestamp = String(NOW_SECONDS) } = {},
): Promise<SignedCallback> {
  const rawBody = Uint8Array.from(typeof body === 'string' ? encoder.encode(body) : body);
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + rawBody.length);
  signed.set(prefix);
  signed.set(rawBody, prefix.length);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, [
    'sign',
  ]);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
  const signature = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return {
    rawBody,
    headers: {
      'content-type': 'application/json',
      'x-timestamp': timestamp,
      'x-signature': signature,
    },
  };
}

export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}
