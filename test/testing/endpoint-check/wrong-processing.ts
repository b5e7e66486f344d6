import { setTimeout as sleep } from 'node:timers/promises';
import { later, strict } from './shop.js';
import { flawed, type WrongHandler } from './wrong-handler.js';

export const repeated: readonly WrongHandler[] = [
  flawed('acts on every delivery', 'duplicate-effect', (shop) => ({
    async process(payment) {
      await shop.query();
      shop.act(payment);
      return 200;
    },
  })),
  ...[20, 500].map((ms) =>
    flawed(`acts on duplicates ${ms} ms after the answer`, 'duplicate-effect', (shop) => ({
      async process(payment, callback) {
        const isKnown = shop.processed.has(shop.changeOf(payment, callback));
        if (isKnown) void later(ms).then(() => shop.act(payment));
        return shop.process(payment, callback);
      },
    })),
  ),
  flawed('puts every delivery into a queue of 100 ms for each', 'duplicate-effect', (shop) => {
    let queue = Promise.resolve();
    return {
      async process(payment) {
        queue = queue.then(() => later(100)).then(() => shop.act(payment));
        return 200;
      },
    };
  }),
  flawed('knows duplicates by their signature', 'resigned-retry-effect', () => ({
    changeOf: (_, { headers }) => String(headers['x-signature']),
  })),
  flawed('knows duplicates by their payment', 'second-change-effect', () => ({
    changeOf: ({ referenceNumber }) => referenceNumber,
  })),
  flawed('knows duplicates by their payment and its updatedAt', 'second-change-effect', () => ({
    changeOf: ({ referenceNumber, updatedAt }) => `${referenceNumber} ${updatedAt}`,
  })),
  flawed(
    'the same by their payment, and acts after the answer',
    'second-change-effect',
    (shop) => ({
      changeOf: ({ referenceNumber }) => referenceNumber,
      perform: (payment, isOlder) => void later(250).then(() => shop.perform(payment, isOlder)),
    }),
  ),
  flawed('looks first and records afterwards', 'simultaneous-effect', (shop) => ({
    async process(payment, callback) {
      const change = shop.changeOf(payment, callback);
      if (shop.processed.has(change)) return 200;
      // As long as a database takes: the other delivery is here by then.
      await sleep(20);
      shop.act(payment);
      shop.processed.add(change);
      return 200;
    },
  })),
  flawed('answers 400 to a duplicate', 'duplicate', (shop) => ({
    async process(payment, callback) {
      const isKnown = shop.processed.has(shop.changeOf(payment, callback));
      if (isKnown || shop.running.has(payment.referenceNumber)) return 400;
      return shop.process(payment, callback);
    },
  })),
  flawed('answers 400 to a change that it is working on', 'simultaneous', (shop) => ({
    async process(payment, callback) {
      const status = await shop.process(payment, callback);
      return status === 503 ? 400 : status;
    },
  })),
  flawed('acts twice on each change', 'valid-effect', (shop) => ({
    act(payment) {
      shop.act(payment);
      shop.act(payment);
    },
  })),
  flawed('never frees what was asked for twice at once', 'simultaneous', (shop) => {
    const locked = new Set<string>();
    return {
      async process(payment, callback) {
        const { referenceNumber } = payment;
        if (shop.running.has(referenceNumber)) locked.add(referenceNumber);
        return locked.has(referenceNumber) ? 503 : shop.process(payment, callback);
      },
    };
  }),
  flawed(
    'answers 409 to every callback of a payment but the first',
    ['duplicate', 'older-change', 'second-change-effect'],
    (shop) => {
      // Copies of the very first are let through, or none of them would ever be acknowledged.
      const seen = new Set<string>();
      return {
        async process(payment, callback) {
          const signature = String(callback.headers['x-signature']);
          if (!shop.newest.has(payment.referenceNumber)) return shop.process(payment, callback);
          const status = seen.has(signature) ? 200 : 409;
          seen.add(signature);
          return status;
        },
      };
    },
  ),
];

export const ordered: readonly WrongHandler[] = [
  flawed('lets the last write win', 'older-change-effect', () => ({ isOlder: () => false })),
  flawed('compares times as text', 'older-change-effect', (shop) => ({
    isOlder: ({ referenceNumber, updatedAt }) =>
      updatedAt < (shop.newest.get(referenceNumber) ?? ''),
  })),
  flawed('ships on paid alone, but lets the last status win', 'older-change-effect', (shop) => ({
    isOlder: () => false,
    act(payment) {
      if (payment.status === 'paid') shop.act(payment);
      else shop.orders.setStatus(payment);
    },
  })),
  flawed('drops what is older', 'late-paid-effect', (shop) => ({
    act(payment) {
      if (!shop.isOlder(payment)) shop.act(payment);
    },
  })),
  flawed('ships what is paid, unless a newer change is known', 'late-paid-effect', (shop) => ({
    perform(payment, isOlder) {
      if (payment.status === 'paid') shop.perform(payment, isOlder);
      else shop.orders.setStatus(payment);
    },
    act(payment) {
      if (!shop.isOlder(payment)) shop.act(payment);
    },
  })),
  flawed('refuses an older change', 'older-change', (shop) => ({
    process: async (payment, callback) =>
      shop.isOlder(payment) ? 422 : shop.process(payment, callback),
  })),
];

/** Endpoints that take a callback before its order is there. */
export const hasty: readonly WrongHandler[] = [
  {
    flaw: 'acknowledges a callback whose UPDATE met no row',
    fails: ['overtaking'],
    create: () =>
      strict((shop) => ({
        async process(payment, callback) {
          const status = await shop.process(payment, callback);
          return status === 503 ? 200 : status;
        },
      })),
  },
  {
    flaw: 'redirects a callback of an order that it does not know',
    fails: ['overtaking'],
    create: () =>
      strict((shop, isStored) => ({
        async process(payment, callback) {
          const status = await shop.process(payment, callback);
          return status === 503 && !isStored(payment) ? 302 : status;
        },
      })),
  },
];
