import { describe, expect, test, vi } from 'vitest';
import { errorCodes, MerchantPaymentsError, RequestError } from '../../src/errors.js';
import { deliberate } from './deliberate.js';
import { publicExports } from './public-exports.js';
import { callbackWalks } from './walks/callback.js';
import { clientWalks } from './walks/client.js';
import { mockWalks } from './walks/mock-server.js';
import { opentelemetryWalks } from './walks/opentelemetry.js';
import { receiverWalks } from './walks/receiver.js';
import { storeWalks } from './walks/stores.js';
import { testingWalks } from './walks/testing.js';
import { channelNames, createWatch, type Walks } from './watch.js';

const walks: Walks = {
  ...clientWalks,
  ...callbackWalks,
  ...receiverWalks,
  ...storeWalks,
  ...opentelemetryWalks,
  ...mockWalks,
  ...testingWalks,
};

/** What is exported and never given a secret or a body. Printed all the same. */
const withoutSecrets: Readonly<Record<string, string>> = {
  '. errorCodes': 'a list of constant texts',
  '. isPaid': 'is given a record, and returns true or false',
  './mock-server createManualClock': 'is given a time',
  './mysql mysqlSchema': 'is given the names of tables',
  './postgres postgresSchema': 'is given the names of tables',
  './testing callbackFindingCodes': 'a list of constant texts',
};

// Each looks at hundreds of things, and a machine that is busy takes its time.
vi.setConfig({ testTimeout: 180_000 });

const { seen, leaksOf } = createWatch();
const exported = await publicExports();
const isErrorClass = (value: unknown): boolean =>
  typeof value === 'function' && value.prototype instanceof Error;

describe.each(Object.entries(walks))('no secret and no body is shown by %s', (_id, scenes) => {
  test.each(Object.entries(scenes))('%s', async (_scene, walk) => {
    const before = seen.things;
    expect(await leaksOf(walk)).toEqual([]);
    expect(seen.things).toBeGreaterThan(before);
  });
});

test.each(exported)('nor by $id itself, when it is printed', async ({ id, value }) => {
  expect(await leaksOf((see) => see(id, value))).toEqual([]);
});

describe('nothing is left out:', () => {
  test('every export of every subpath is walked, is a class of errors, or is on the list', () => {
    const names = exported.filter(({ value }) => !isErrorClass(value)).map(({ id }) => id);
    expect(names.sort()).toEqual([...Object.keys(walks), ...Object.keys(withoutSecrets)].sort());
  });

  test('every class of errors was seen', () => {
    const classes = exported.filter(
      ({ value }) =>
        isErrorClass(value) && value !== MerchantPaymentsError && value !== RequestError,
    );
    expect(classes.length).toBeGreaterThan(9);
    // By name: on the published files, the walks' classes are other copies of these.
    const names = classes.map(({ id }) => id.split(' ')[1]);
    expect(names.filter((name = '') => !seen.errorNames.has(name))).toEqual([]);
  });

  test('every code was seen', () => {
    expect(errorCodes.filter((code) => !seen.codes.has(code))).toEqual([]);
  });

  test('every channel was heard', () => {
    expect(channelNames.length).toBeGreaterThan(2);
    expect([...seen.channels].sort()).toEqual([...channelNames].sort());
  });

  test('every exception shows what it is made for', () => {
    expect([...seen.exceptions].sort()).toEqual(Object.keys(deliberate).sort());
  });
});
