import { createHmac } from 'node:crypto';
import { TextDecoder } from 'node:util';

export interface Delivery {
  rawBody: Uint8Array;
  headers: Record<string, string | string[]>;
  secrets: readonly string[];
}

export type Verdict =
  | { accepted: false }
  | { accepted: true; secretIndex: number; record: Record<string, unknown> };

const refused: Verdict = { accepted: false };

/**
 * Interface section 5.2 in the plainest words: no speed, no errors, nothing of the package. It writes
 * the digest in every spelling that is allowed and looks for the header's text among them.
 */
export function referenceVerdict(
  { rawBody, headers, secrets }: Delivery,
  { toleranceSeconds, nowSeconds }: { toleranceSeconds: number; nowSeconds: number },
): Verdict {
  const timestamps = valuesOf(headers, 'x-timestamp');
  const signatures = valuesOf(headers, 'x-signature');
  if (timestamps.length !== 1 || signatures.length !== 1) return refused;
  const timestamp = timestamps[0] as string;
  const signature = signatures[0] as string;

  if (!/^[0-9]{1,15}$/.test(timestamp) || BigInt(timestamp) >= 100_000_000_000n) return refused;
  const skew = BigInt(nowSeconds) - BigInt(timestamp);
  if (skew > BigInt(toleranceSeconds) || skew < BigInt(-toleranceSeconds)) return refused;

  const secretIndex = secrets.findIndex((secret) =>
    spellings(secret, timestamp, rawBody).some((spelling) =>
      /^[0-9a-f]{64}$/i.test(signature)
        ? spelling === signature.toLowerCase()
        : spelling === signature,
    ),
  );
  if (secretIndex === -1) return refused;
  const record = readRecord(rawBody);
  return record === undefined ? refused : { accepted: true, secretIndex, record };
}

function valuesOf(headers: Delivery['headers'], name: string): string[] {
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value);
}

function spellings(secret: string, timestamp: string, body: Uint8Array): string[] {
  const digest = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(timestamp), Buffer.from('.'), body]))
    .digest();
  const padded = digest.toString('base64');
  const url = padded.replace(/\+/g, '-').replace(/\//g, '_');
  return [digest.toString('hex'), padded, padded.slice(0, -1), url, url.slice(0, -1)];
}

function readRecord(body: Uint8Array): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const record = value as Record<string, unknown>;
  const texts = ['referenceNumber', 'merchantPaymentReference', 'status'];
  const isRecord =
    texts.every((field) => typeof record[field] === 'string' && record[field] !== '') &&
    isInstant(record['updatedAt']);
  if (!isRecord) return undefined;
  const { providerReference = null, createdAt = null, ...others } = record;
  const isProvider = providerReference === null || typeof providerReference === 'string';
  return {
    ...others,
    ...('providerReference' in record && isProvider && { providerReference }),
    ...('createdAt' in record && (createdAt === null || isInstant(createdAt)) && { createdAt }),
  };
}

/** Date.parse knows a calendar; the text must have an offset besides. Enough for what arbitraries.ts makes. */
function isInstant(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /T.*(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}
