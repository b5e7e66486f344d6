import { createSecretKey } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import type { CallbackReceiverOptions } from '../../../src/receiver/options.js';
import { memoryStore } from '../../../src/store/memory.js';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import {
  checkTexts,
  type EndpointCheck,
  type EndpointCheckId,
  type EndpointReport,
} from '../../../src/testing/endpoint-check/checks.js';
import { reserveClosedPort } from '../../mock-server/merchant-endpoint.js';
import { changed, check, effectsOf, listen, Orders, SECRET, Shop } from './shop.js';

const ALL = (Object.keys(checkTexts) as EndpointCheckId[]).sort();

const idsOf = ({ checks }: EndpointReport, outcome: EndpointCheck['outcome']): readonly string[] =>
  checks
    .filter((check) => check.outcome === outcome)
    .map(({ id }) => id)
    .sort();

const find = ({ checks }: EndpointReport, wanted: EndpointCheckId): EndpointCheck => {
  const check = checks.find(({ id }) => id === wanted);
  if (check === undefined) throw new Error(`no check ${wanted}`);
  return check;
};

/** The package's own handler, in a process that remembers. */
function createRightEndpoint(options: Partial<CallbackReceiverOptions> = {}): {
  listener: RequestListener;
  orders: Orders;
} {
  const orders = new Orders();
  const listener = callbackHandler({
    signingSecret: SECRET,
    store: memoryStore(),
    onPayment({ payment }, { current }) {
      if (payment.status === 'paid') orders.count(payment);
      if (current) orders.setStatus(payment);
    },
    onRejected: () => undefined,
    ...options,
  });
  return { listener, orders };
}

describe.concurrent('on callbackHandler', () => {
  it('passes every check with a probe that is a function', async () => {
    const { listener, orders } = createRightEndpoint();
    const report = await checkCallbackEndpoint(await listen(listener), {
      signingSecret: SECRET,
      countEffects: effectsOf(orders),
    });
    expect(idsOf(report, 'passed')).toEqual(ALL.filter((id) => id !== 'overtaking'));
    expect(report).toMatchObject({
      passed: true,
      counts: { passed: ALL.length - 1, failed: 0, skipped: 1 },
    });
  });

  it('skips what only a probe can show, and says so', async () => {
    const report = await checkCallbackEndpoint(await listen(createRightEndpoint().listener), {
      signingSecret: SECRET,
    });
    expect(idsOf(report, 'skipped')).toEqual(ALL.filter((id) => /-effect$|^overtaking/.test(id)));
    expect(find(report, 'duplicate-effect').detail).toBe(
      'not tried: it needs the option countEffects',
    );
    expect(report.passed).toBe(true);
  });

  it.each([
    [{ signatureEncoding: 'base64' }],
    [{ signatureEncoding: 'base64url' }],
    [{ timestampUnit: 'milliseconds' }],
    [{ toleranceSeconds: 60 }],
  ] as const)('passes with %o on both sides', async (policy) => {
    const { listener, orders } = createRightEndpoint(policy);
    const report = await checkCallbackEndpoint(await listen(listener), {
      signingSecret: createSecretKey(Buffer.from(SECRET)),
      countEffects: effectsOf(orders),
      ...policy,
    });
    expect(idsOf(report, 'failed')).toEqual([]);
    expect(report.counts.skipped).toBe(1);
  });
});

describe.concurrent('the payments', () => {
  const openShopThatKnows = async (reference: string) => {
    const references: string[] = [];
    const url = await listen(
      changed(() => ({
        isValid({ merchantPaymentReference }) {
          references.push(merchantPaymentReference);
          return merchantPaymentReference.startsWith(reference);
        },
      })).listener,
    );
    return { url, references };
  };

  it('have the reference that is given', async () => {
    const { url, references } = await openShopThatKnows('order-1');
    const report = await check(url, {
      signingSecret: SECRET,
      merchantPaymentReference: 'order-1',
    });
    expect(idsOf(report, 'failed')).toEqual([]);
    expect(new Set(references)).toEqual(new Set(['order-1']));
  });

  it('each have a reference that a function returns', async () => {
    const { url, references } = await openShopThatKnows('order-');
    let orders = 0;
    const report = await check(url, {
      signingSecret: SECRET,
      merchantPaymentReference: async () => {
        orders += 1;
        return `order-${orders}`;
      },
    });
    expect(idsOf(report, 'failed')).toEqual([]);
    expect(new Set(references).size).toBeGreaterThan(10);
    for (const reference of references) expect(reference).toMatch(/^order-\d+$/);
  });

  it('are reported with each check, to be found in a log', async () => {
    const references: string[] = [];
    const url = await listen(
      changed(() => ({
        isValid: ({ referenceNumber }) => references.push(referenceNumber) > 0,
      })).listener,
    );
    const report = await check(url, { signingSecret: SECRET });
    expect(find(report, 'valid-accepted').referenceNumbers).toEqual([references[0]]);
    const told = report.checks.flatMap(({ referenceNumbers }) => referenceNumbers);
    expect(told).toEqual(expect.arrayContaining(references));
    expect(new Set(find(report, 'duplicate').referenceNumbers).size).toBe(1);
  });

  it.each([
    [
      () => {
        throw new TypeError(`no ${SECRET}`);
      },
      'merchantPaymentReference threw an error (TypeError)',
    ],
    [() => ' ', 'must return a string that is not blank, received a blank string'],
    [
      () => new Promise<string>(() => undefined),
      'merchantPaymentReference did not answer within 50 ms',
    ],
  ])('need a reference: %s', async (merchantPaymentReference, says) => {
    const report = await check(await listen(new Shop().listener), {
      signingSecret: SECRET,
      merchantPaymentReference,
      timeoutMs: 50,
    });
    expect(idsOf(report, 'failed')).toEqual(['reachable']);
    expect(find(report, 'reachable').detail).toContain(says);
  });
});

describe.concurrent('an endpoint that does not answer', () => {
  const expectUnreachable = async (url: string, says: RegExp) => {
    const report = await check(url, { signingSecret: SECRET });
    expect(idsOf(report, 'failed')).toEqual(['reachable']);
    expect(report.cause).toBe('reachable');
    expect(idsOf(report, 'skipped')).toEqual(ALL.filter((id) => id !== 'reachable'));
    expect(find(report, 'reachable').detail).toMatch(says);
    expect(find(report, 'large-body').detail).toMatch(says);
    expect(report.passed).toBe(false);
  };

  it('at a closed port is reported with the code', async () => {
    await expectUnreachable(`http://127.0.0.1:${await reserveClosedPort()}/`, /ECONNREFUSED/);
  });

  it('without TLS is reported with the code', async () => {
    const url = await listen(new Shop().listener);
    await expectUnreachable(url.replace('http:', 'https:'), /\((EPROTO|ERR_SSL_\w+)\)/);
  });
});

it.concurrent('skips everything else when a valid callback is refused, since other refusals prove nothing', async () => {
  const report = await check(await listen(new Shop().listener), {
    signingSecret: 'not the endpoint’s',
  });
  expect(idsOf(report, 'failed')).toEqual(['valid-accepted']);
  expect(idsOf(report, 'passed')).toEqual(['reachable']);
  expect(find(report, 'valid-accepted')).toMatchObject({ status: 401 });
  expect(find(report, 'wrong-secret').detail).toMatch(
    /^not tried, because "valid-accepted" failed: a valid callback: the endpoint answered 401, and 401 to a signature made with another secret$/,
  );
});

it.concurrent('makes a connection that breaks the failure of one check', async () => {
  const shop = new Shop();
  const url = await listen((request, response) => {
    if (request.headers['x-signature'] === undefined) request.socket.destroy();
    else shop.listener(request, response);
  });
  const report = await check(url, { signingSecret: SECRET });
  expect(idsOf(report, 'failed')).toEqual(['missing-signature']);
  expect(find(report, 'missing-signature').detail).toContain('did not answer (ECONNRESET)');
});

describe.concurrent('the bodies', () => {
  const collectBodies = async (merchantPaymentReference?: string) => {
    const bodies: string[] = [];
    const url = await listen(
      changed((shop) => ({
        isSigned(callback) {
          const isSigned = shop.isSigned(callback);
          if (isSigned) bodies.push(callback.body.toString());
          return isSigned;
        },
      })).listener,
    );
    const report = await check(url, {
      signingSecret: SECRET,
      merchantPaymentReference,
    });
    expect(idsOf(report, 'failed')).toEqual([]);
    return bodies;
  };

  it.each([undefined, 'order-1'])(
    'hold one of many scripts, whose reference is as given: %s',
    async (reference) => {
      const bodies = await collectBodies(reference);
      const records = bodies.map((body) => JSON.parse(body));
      const unicode = bodies.filter((body) => body.includes('😀'));
      expect(unicode).toHaveLength(1);
      expect(unicode[0]).toContain('cafe\u0301');
      for (const record of records) {
        expect(record.merchantPaymentReference).toMatch(reference ?? /^check-[\da-f-]{36}$/);
      }
    },
  );
});

it.concurrent('sends a large body of the requested size, as a valid record', async () => {
  const sizes: number[] = [];
  const url = await listen(
    changed((shop) => ({
      isAuthentic(callback) {
        sizes.push(callback.body.length);
        return shop.isAuthentic(callback);
      },
    })).listener,
  );
  // What this shop takes, and not a byte more.
  const report = await check(url, { signingSecret: SECRET }, 65_536);
  expect(sizes).toContain(65_536);
  expect(idsOf(report, 'failed')).toEqual(['large-body']);
  expect(find(report, 'large-body')).toMatchObject({ status: 200 });
});

describe.concurrent('the report', () => {
  it('holds no secret: from the signature, a query, or an error of the probe', async () => {
    const url = `${await listen(new Shop().listener)}?token=query-secret`;
    const report = await check(url, {
      signingSecret: SECRET,
      countEffects: () => {
        throw new Error(`postgres://user:${SECRET}@db`);
      },
    });
    expect(report.url).toBe(url.replace('?token=query-secret', ''));
    for (const text of [JSON.stringify(report), inspect(report, { depth: 9 })]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('query-secret');
    }
  });
});

it.concurrent('sends the query of the URL, but not its fragment', async () => {
  const paths = new Set<string | undefined>();
  const url = await listen((request, response) => {
    paths.add(request.url);
    response.writeHead(404).end();
  });
  await check(new URL(`${url}?shop=1#part`), { signingSecret: SECRET });
  expect([...paths]).toEqual(['/callbacks?shop=1']);
});
