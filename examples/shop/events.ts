import { setTimeout } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { DECLINED, pool, store } from './database.js';

const INTERVAL_MS = 500;

const streams = new Set<AbortController>();

/** Returns what the customer's page shows; undefined for a reference without an order. */
export async function readOrder(reference: string) {
  const { rows } = await pool.query(
    `SELECT status, shipments IS NOT NULL AS "isPaid"
     FROM orders LEFT JOIN shipments USING (merchant_payment_reference)
     WHERE merchant_payment_reference = $1`,
    [reference],
  );
  if (rows[0] === undefined) return undefined;
  const stored = await store.getOrder(reference); // the payment that has paid it, or the latest attempt
  const record = stored?.state === 'created' ? stored.payment : undefined;
  const payment = DECLINED.includes(record?.status ?? '') ? 'declined' : stored?.state;
  // The interface names no page to pay on. The mock's answers have this field; use your service's own.
  return { ...rows[0], payment, paymentUrl: record?.['paymentUrl'] };
}

/**
 * Sends the order's state, and each change of it, as server-sent events. It polls the database, so it
 * does not matter which instance receives the callback.
 */
export async function streamOrder(request: Request<{ reference: string }>, response: Response) {
  const { reference } = request.params;
  const stream = new AbortController();
  response.on('close', () => stream.abort()); // before anything is awaited: the customer may leave
  let order = await readOrder(reference);
  if (order === undefined) {
    response.sendStatus(404);
    return;
  }
  streams.add(stream);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  try {
    for (let sent = ''; ; order = await readOrder(reference)) {
      const text = JSON.stringify(order);
      if (text !== sent) response.write(`data: ${text}\n\n`);
      sent = text;
      await setTimeout(INTERVAL_MS, undefined, { signal: stream.signal });
    }
  } catch (error) {
    if (!stream.signal.aborted) console.error(error);
  } finally {
    streams.delete(stream);
    response.end(); // the browser connects again by itself
  }
}

/** For a deploy: the browsers connect again, to another instance. */
export function endStreams(): void {
  for (const stream of streams) stream.abort();
}
