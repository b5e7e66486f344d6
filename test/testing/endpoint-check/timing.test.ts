import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import { listen, SECRET, Shop } from './shop.js';

const nowSeconds = () => Math.floor(Date.now() / 1000);

async function checkTimestamps(listener: RequestListener) {
  const { checks } = await checkCallbackEndpoint(await listen(listener), { signingSecret: SECRET });
  const find = (wanted: string) => checks.find(({ id }) => id === wanted);
  return {
    stale: find('stale-timestamp'),
    future: find('future-timestamp'),
    delayed: find('delayed-callback'),
  };
}

/** Looks at callbacks from the future when the next second has begun: by then they are inside the window. */
function createLateShop(times: number) {
  let held = 0;
  return new (class extends Shop {
    protected override async read(request: Parameters<Shop['read']>[0]) {
      const isFuture = Number(request.headers['x-timestamp']) === nowSeconds() + 301;
      if (isFuture && held < times) {
        held += 1;
        await new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000)));
      }
      return super.read(request);
    }
  })().listener;
}

it.concurrent('sends again what was looked at in another second than it was sent in', async () => {
  const { future } = await checkTimestamps(createLateShop(1));
  expect(future).toMatchObject({ outcome: 'passed', status: 401 });
  expect(future?.referenceNumbers).toHaveLength(2);
});

it.concurrent('sends three times at most', async () => {
  const { future } = await checkTimestamps(createLateShop(5));
  expect(future).toMatchObject({ outcome: 'failed', status: 200 });
  expect(future?.referenceNumbers).toHaveLength(3);
});

it.concurrent('sends once what was looked at in time', async () => {
  const { stale } = await checkTimestamps(
    new (class extends Shop {
      protected override isFresh(timestamp: number): boolean {
        return nowSeconds() - timestamp <= 301;
      }
    })().listener,
  );
  expect(stale).toMatchObject({ outcome: 'failed' });
  expect(stale?.referenceNumbers).toHaveLength(1);
});

const createShopOff = (bySeconds: number): RequestListener => {
  const shop = new (class extends Shop {
    protected override isFresh(timestamp: number): boolean {
      return super.isFresh(timestamp - bySeconds);
    }
  })();
  return (request, response) => {
    response.setHeader('date', new Date(Date.now() + bySeconds * 1000).toUTCString());
    shop.listener(request, response);
  };
};

it.concurrent.each([
  [20, /is (19|20) s ahead of this machine's/],
  [-20, /is (19|20) s behind this machine's/],
])("tells that the endpoint's clock is %i s off", async (bySeconds, says) => {
  const { stale, future, delayed } = await checkTimestamps(createShopOff(bySeconds));
  for (const check of [stale, future, delayed]) expect(check?.detail).toMatch(says);
  expect([delayed?.outcome, future?.outcome]).toEqual(
    bySeconds > 0 ? ['failed', 'failed'] : ['passed', 'passed'],
  );
});

it.concurrent.each([0, 1, -1])(
  'does not complain of a clock that is %i s off',
  async (bySeconds) => {
    const { stale } = await checkTimestamps(createShopOff(bySeconds));
    expect(stale?.detail).not.toContain('clock');
  },
);
