import { describe, expect, it } from 'vitest';
import {
  createClient,
  failureOf,
  httpAnswer,
  order,
  startRawServer,
  transports,
} from './raw-server.js';

const busy = httpAnswer(429, { code: 'BUSY' }, { 'retry-after': '20' });

/** A logger that tells when a call begins to wait for its retry. */
function watchWaits() {
  let waits = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    waits = resolve;
  });
  const ignore = (): void => {};
  return { waiting, logger: { debug: ignore, info: ignore, error: ignore, warn: () => waits() } };
}

describe.each(transports)('close(), with $name,', ({ options }) => {
  it('ends a call that waits for Retry-After, with the error of its last request', async () => {
    const server = await startRawServer({ answer: () => busy });
    const { waiting, logger } = watchWaits();
    const client = createClient(server.url, { ...options, logger });
    const failure = failureOf(client.payments.create(order));
    await waiting;
    await client.close();
    expect(await failure).toMatchObject({
      serviceCode: 'BUSY',
      httpStatus: 429,
      requestOutcome: 'rejected',
      safeToRetry: true,
      retryAfterSeconds: 20,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('lets a request in flight end, and does not retry it', async () => {
    const server = await startRawServer({});
    const client = createClient(server.url, options);
    const failure = failureOf(client.payments.create(order));
    await server.received(1);
    const closing = client.close();
    server.requests[0]?.socket.write(busy);
    await closing;
    expect(await failure).toMatchObject({ serviceCode: 'BUSY', requestOutcome: 'rejected' });
    expect(server.requests).toHaveLength(1);
  });

  it('ends more than ten calls that wait, without a warning of a leak', async () => {
    const server = await startRawServer({ answer: () => busy });
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const client = createClient(server.url, options);
    const failures = Array.from({ length: 12 }, () => failureOf(client.payments.create(order)));
    await server.received(12);
    await client.close();
    await Promise.all(failures);
    process.off('warning', warn);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
    expect(server.requests).toHaveLength(12);
  });
});
