import { once } from 'node:events';
import http from 'node:http';
import { describe, expect, test } from 'vitest';
import { type MockServer, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment, order, postPayment } from '../merchant-client.js';
import { parseBody, startEndpoint } from '../merchant-endpoint.js';
import { rawRequest } from './control-client.js';

const SHOP = 'http://127.0.0.1:3000/thanks?order=1&from=mock';

async function startPage(creation: object = {}) {
  const endpoint = await startEndpoint();
  const server = await startMockServer({ callbackUrl: endpoint.url });
  const referenceNumber = await createPayment(server, { ...order, ...creation });
  const path = `/_mock/pay/${referenceNumber}`;
  return {
    endpoint,
    server,
    referenceNumber,
    show: (query = '', headers = {}) => rawRequest(server, 'GET', path + query, headers),
    press: (action: string, fields = {}, headers = {}) =>
      press(server, path, { action, ...fields }, headers),
    async [Symbol.asyncDispose]() {
      await server.close();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

function press(server: MockServer, path: string, fields: Record<string, string>, headers = {}) {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(fields).toString();
  return rawRequest(server, 'POST', path, { ...type, ...headers }, body);
}

describe('each button', () => {
  test.each([
    ['pay', ['paid']],
    ['decline', ['declined']],
    ['leave', []],
    ['pay-twice', ['paid', 'paid']],
  ])('%s has sent these callbacks by the time the customer is back: %j', async (action, sent) => {
    await using scene = await startPage({ returnUrl: SHOP, channel: 'web' });
    const answer = await scene.press(action);
    expect(answer).toMatchObject({ status: 303, headers: { location: SHOP } });
    const records = scene.endpoint.received.map(parseBody);
    expect(records.map(({ status }) => status)).toEqual(sent);
    const numbers = new Set(records.map((record) => record['referenceNumber']));
    expect(numbers.size).toBe(sent.length);
  });

  test('pay-twice makes a second payment for the order, and flags it', async () => {
    await using scene = await startPage({ returnUrl: SHOP, channel: 'web' });
    await scene.press('pay-twice');
    const { referenceNumber } = scene;
    expect(scene.server.payments.list()).toMatchObject([
      { referenceNumber, status: 'paid' },
      { ...order, status: 'paid', secondOf: referenceNumber, extra: { channel: 'web' } },
    ]);
  });

  test('pays once when it is pressed twice', async () => {
    await using scene = await startPage();
    await Promise.all([scene.press('pay'), scene.press('pay')]);
    await scene.press('decline');
    expect(scene.endpoint.received).toHaveLength(1);
  });

  test('pays once when both requests have begun before their bodies arrive', async () => {
    await using scene = await startPage();
    const { server, referenceNumber } = scene;
    const requests = [1, 2].map(() => {
      const request = http.request(`${server.url}/_mock/pay/${referenceNumber}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 10 },
      });
      request.flushHeaders();
      return request;
    });
    // An answer to a later request: both have been read up to their bodies.
    await Promise.all(requests.map((request) => once(request, 'socket')));
    await scene.show();
    const answers = requests.map(async (request) => {
      request.end('action=pay');
      const [answer] = await once(request, 'response');
      answer.resume();
      return answer.statusCode;
    });
    expect(await Promise.all(answers)).toEqual([303, 303]);
    expect(scene.endpoint.received).toHaveLength(1);
  });

  test.each([
    ['pay', 'Thank you, it is paid'],
    ['decline', 'The payment was declined'],
    ['leave', 'Nothing was paid'],
    ['pay-twice', 'It is paid twice'],
  ])('%s leads to a page of its own without a return URL', async (action, said) => {
    await using scene = await startPage();
    const path = `/_mock/pay/${scene.referenceNumber}`;
    const { status, headers } = await scene.press(action);
    expect([status, headers.location]).toEqual([303, `${path}?done=${action}`]);
    const { text } = await rawRequest(scene.server, 'GET', String(headers.location), {});
    expect(text).toContain(said);
    expect(text).not.toContain('value="pay"');
  });
});

test.each(['/_mock/pay/unknown', '/_mock/pay/order-1/more'])(
  '%s, a wrong link, is answered with a page',
  async (path) => {
    await using scene = await startPage();
    const { status, headers, text } = await rawRequest(scene.server, 'GET', path, {});
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(text).toContain('This link leads to no payment');
  },
);

describe('the return URL', () => {
  test('of the query wins over that of the creation', async () => {
    await using scene = await startPage({ returnUrl: SHOP });
    const other = 'https://shop.example/back';
    const { text, headers } = await scene.show(`?returnUrl=${encodeURIComponent(other)}`);
    expect(text).toContain(`value="${other}"`);
    expect(headers['content-security-policy']).toContain(
      "form-action 'self' https://shop.example;",
    );
    expect((await scene.press('leave', { returnUrl: other })).headers.location).toBe(other);
  });

  test('can not add a directive to the policy', async () => {
    await using scene = await startPage();
    const hostile = 'http://a;script-src*,b.example/';
    expect(new URL(hostile).origin).toContain(';');
    const { headers } = await scene.show(`?returnUrl=${encodeURIComponent(hostile)}`);
    expect(headers['content-security-policy']).toContain("form-action 'self'; base-uri");
  });

  test.each(['javascript:alert(1)', 'http://user:pw@a.example'])(
    '%s is refused in the query, and ignored in the creation',
    async (returnUrl) => {
      await using scene = await startPage({ returnUrl });
      const asked = await scene.show(`?returnUrl=${encodeURIComponent(returnUrl)}`);
      expect([asked.status, asked.headers['content-type']]).toEqual([
        400,
        'text/html; charset=utf-8',
      ]);
      expect(asked.text).toContain('This link can not be used');
      expect(asked.text).toContain('returnUrl must');
      expect((await scene.press('leave')).headers.location).toMatch(/^\/_mock\/pay\//);
    },
  );
});

describe('the page', () => {
  test('escapes everything that the merchant sent', async () => {
    const hostile = `"><script>alert('1')</script>&`;
    await using scene = await startPage({
      merchantPaymentReference: hostile,
      returnUrl: 'http://shop.example/?a="><b>\'',
    });
    const { text } = await scene.show();
    expect(text).not.toMatch(/<script|<b>|alert\('/);
    expect(text).toContain('&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;');
    expect(text).toContain('1000 <small>EUR</small>');
  });

  test('allows no script, no frame and no other address', async () => {
    await using scene = await startPage();
    const { headers } = await scene.show();
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  test('may be linked from another site, but only its own form may be sent', async () => {
    await using scene = await startPage();
    const { server, show, press } = scene;
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await show('', foreign)).status).toBe(200);
    expect((await show('', { host: 'evil.example' })).status).toBe(403);
    for (const headers of [
      foreign,
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
    ]) {
      expect((await press('pay', {}, headers)).status).toBe(403);
    }
    expect(server.payments.list()).toMatchObject([{ status: 'pending' }]);
    expect(
      (await press('pay', {}, { origin: server.url, 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(303);
  });

  test.each([
    ['PUT', '/_mock/pay/order-1', '', 405],
    ['POST', '/_mock/pay/order-1', 'action=refund', 400],
    ['POST', '/_mock/pay/order-1', `action=pay&x=${'x'.repeat(1_048_576)}`, 400],
  ])(
    '%s %s with "%.20s" is answered %d, and changes nothing',
    async (method, path, body, status) => {
      await using scene = await startPage();
      expect((await rawRequest(scene.server, method, path, {}, body)).status).toBe(status);
      expect(scene.endpoint.received).toEqual([]);
    },
  );
});

test('paymentPage adds its address to the answer to a creation; another field of that name wins', async () => {
  await using server = await startMockServer({ paymentPage: true, answerFields: { more: 1 } });
  const answer = (await (await postPayment(server)).json()) as Record<string, unknown>;
  expect(answer).toMatchObject({
    more: 1,
    paymentUrl: `${server.url}/_mock/pay/${answer['referenceNumber']}`,
  });
  await using other = await startMockServer({
    paymentPage: true,
    answerFields: { paymentUrl: 'x' },
  });
  expect(await (await postPayment(other)).json()).toMatchObject({ paymentUrl: 'x' });
  await using without = await startMockServer();
  expect(await (await postPayment(without)).json()).not.toHaveProperty('paymentUrl');
});
