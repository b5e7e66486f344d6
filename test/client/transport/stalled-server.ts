import { created, order, type RawServer, startRawServer } from '../raw-server.js';

export const IN_FLIGHT = 256;

export const named = (merchantPaymentReference: string) => ({ ...order, merchantPaymentReference });

/** A server that lets the first 256 requests hang and answers all others. */
export function startStalledServer(): Promise<RawServer> {
  return startRawServer({ answer: (_request, index) => (index < IN_FLIGHT ? undefined : created) });
}
