import { databaseForms } from '../../src/store/sql/sql.js';

/** The statement after which a stored payment looks as if this many milliseconds had passed. */
export function letPassOf(merchantPaymentReference: string, ms: number): string {
  const times = ['lease_until_ms', 'sent_at_ms', 'look_at_ms', 'changed_at_ms'];
  const name = databaseForms.toName(merchantPaymentReference);
  return `UPDATE payment_store_payments SET ${times.map((time) => `${time} = ${time} - ${ms}`).join(', ')}
WHERE merchant_payment_reference = '${name.replaceAll("'", "''")}'`;
}
