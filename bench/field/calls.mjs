import { clickedSubjects, read, subjects } from './clients.mjs';
import { faults } from './faults.mjs';
import { makeCertificate, startService } from './service.mjs';

const AT_ONCE = 6;
const PATIENCE_MS = 10_000;

/** Calls every client under every fault: once, and for a customer who clicks again after a failure. */
export async function measureCalls(only = () => true) {
  const cases = [];
  for (const keys of [false, true]) {
    for (const fault of faults) {
      for (const subject of subjects) cases.push({ keys, fault, subject, clicks: 1 });
      for (const subject of clickedSubjects) cases.push({ keys, fault, subject, clicks: 2 });
    }
  }
  const wanted = cases.filter(
    ({ keys, subject }) => (keys || !subject.needsKeys) && only(subject.name),
  );
  const results = [];
  // Mollie's client speaks TLS alone, and takes no certificate authority. Everything is on loopback.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const tls = await makeCertificate();
  const waiting = wanted.entries();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [index, one] of waiting) results[index] = await measure(one, tls);
    }),
  );
  return results;
}

async function measure({ keys, fault, subject, clicks }, tls) {
  const service = await startService({ keys, fault, ...(subject.needsTls && { tls }) });
  const call = subject.open(service.url);
  const isExpired = fault.name === 'expired-connection';
  if (isExpired) await call({ order: 'order-0' });
  // With a second click, the key is the order's, as the guides of those who know keys recommend.
  const click = { order: 'order-1', ...(clicks > 1 && keys && { key: 'key-of-order-1' }) };
  const startedAtMs = performance.now();
  let learned;
  // Who sees a success does not click again.
  for (let count = 0; count < clicks && learned?.says !== 'created'; count += 1) {
    learned = await learn(call, click);
  }
  const seconds = Number(((performance.now() - startedAtMs) / 1_000).toFixed(1));
  const others = isExpired ? 1 : 0;
  const requests = service.requests - others;
  const payments = service.payments - others;
  await service.close().catch(() => undefined); // closed already, where it refused
  const verdict = judge(learned.says, payments);
  return {
    keys,
    fault: fault.name,
    subject: subject.name,
    clicks,
    requests,
    payments,
    ...learned,
    verdict,
    seconds,
  };
}

async function learn(call, click) {
  const waited = Promise.withResolvers();
  const timer = setTimeout(
    () => waited.resolve({ says: 'nothing', error: 'did not end' }),
    PATIENCE_MS,
  );
  const called = call(click).then(
    (id) => ({ says: 'created', ...(id === undefined && { isWithoutId: true }) }),
    (error) => ({ says: read(error), error: nameOf(error) }),
  );
  const learned = await Promise.race([called, waited.promise]);
  clearTimeout(timer);
  return learned;
}

function nameOf(error) {
  const code = error.code ?? error.cause?.code ?? error.statusCode ?? error.status;
  return [
    error.constructor.name,
    ...(typeof code === 'object' || code === undefined ? [] : [code]),
  ].join(' ');
}

function judge(says, payments) {
  if (payments > 1) return 'twice';
  if (says === 'unknown' || says === 'nothing') return says;
  return (says === 'created') === (payments === 1) ? 'right' : 'wrong';
}
