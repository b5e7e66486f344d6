import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

// Common mistakes, each with the number of lines in which tsc reports it: three that a person reads, and no nested proof.

const GIVEN = `
import type { PGlite } from '@electric-sql/pglite';
import type { Redis } from 'ioredis';
import type mysqlOfCallbacks from 'mysql2';
import type mysql from 'mysql2/promise';
import type pg from 'pg';
import type postgres from 'postgres';
import { callbackKey, createCallbackVerifier, verifyCallback, verifyCallbackAsync } from 'merchant-payments/callback';
import * as fetch from 'merchant-payments/fetch';
import { PaymentClient } from 'merchant-payments';
import * as lambda from 'merchant-payments/lambda';
import { startMockServer } from 'merchant-payments/mock-server';
import { paymentServiceHandlers } from 'merchant-payments/msw';
import { mysqlStore } from 'merchant-payments/mysql';
import { callbackHandler, RetryLaterError } from 'merchant-payments/node';
import { fromDrizzle, fromKysely, fromPrisma, fromTypeOrm, postgresStore } from 'merchant-payments/postgres';
import { createCallbackReceiver } from 'merchant-payments/receiver';
import { redisStore } from 'merchant-payments/redis';
import { sqliteStore } from 'merchant-payments/sqlite';
import { memoryStore, type StoredPayment } from 'merchant-payments/store';
import { checkCallbackEndpoint, signCallback } from 'merchant-payments/testing';
import type Database from 'better-sqlite3';

declare const app: { mock: Awaited<ReturnType<typeof startMockServer>> };
declare const client: PaymentClient;
declare const mysqlConnection: mysql.Connection;
declare const mysqlPool: mysql.Pool;
declare const mysqlPoolOfCallbacks: mysqlOfCallbacks.Pool;
declare const pgClient: pg.Client;
declare const pglite: PGlite;
declare const pool: pg.Pool;
declare const redis: Redis;
declare const signingSecret: string;
declare const sql: postgres.Sql;
declare const sqlite: Database.Database;
declare const stored: StoredPayment;
// As Prisma and TypeORM declare it.
declare const prisma: { $queryRawUnsafe(query: string): Promise<unknown>; $transaction(body: (tx: object) => Promise<void>): Promise<void> };
declare const dataSource: { query(sql: string, values?: unknown[]): Promise<any>; transaction<T>(body: (manager: object) => Promise<T>): Promise<T> };
const input = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
const request = { rawBody: '{}', headers: {} };
const onPayment = () => undefined;
const options = { baseUrl: 'https://pay.example', apiKey: 'key', apiSecret: 'secret' };
`;

const MISTAKES: Readonly<Record<string, readonly (readonly [code: string, lines: number])[]>> = {
  'the client': [
    ["new PaymentClient({ baseUrl: 'https://pay.example', apiKey: 'key' })", 2],
    ["new PaymentClient('https://pay.example')", 1],
    ['new PaymentClient({ ...options, timeout: 1000 })', 1],
    ["new PaymentClient({ ...options, maxRetries: '2' })", 1],
    ["new PaymentClient({ ...options, apiSecret: process.env['SECRET'] })", 2],
    ["new PaymentClient({ ...options, idempotency: 'idempotency-key' })", 1],
    ['PaymentClient.fromEnv({ timeout: 1000 })', 1],
    ["client.payments.create({ ...input, amount: '2500' })", 1],
    ["client.payments.create({ merchantPaymentReference: 'order-1001', currency: 'EUR' })", 2],
    ["client.payments.create({ ...input, description: 'x' })", 1],
    ['client.payments.create(input, { timeout: 1000 })', 1],
    ['client.create(input)', 1],
    ["client.request('/api/payments')", 1],
  ],
  'the verifiers': [
    ['verifyCallback(request)', 1],
    ['verifyCallback(request, {})', 2],
    ["verifyCallback(request, { secret: 'x' })", 1],
    ["verifyCallback(request, { signingSecret: process.env['SECRET'] })", 2],
    ['verifyCallback(request, { signingSecret, tolerance: 300 })', 1],
    ['verifyCallback({ rawBody: { amount: 1 }, headers: {} }, { signingSecret })', 1],
    ["verifyCallback({ body: '{}', headers: {} }, { signingSecret })", 1],
    ['createCallbackVerifier({})', 2],
    ['createCallbackVerifier({ signingSecret, receivedAt: new Date() })', 1],
    ['verifyCallbackAsync(request, { signingSecret }).payment', 1],
    ["callbackKey({ referenceNumber: 'PAY-1', status: 'paid' })", 2],
  ],
  'the handlers': [
    ['callbackHandler({ signingSecret })', 2],
    ['callbackHandler({ secret: signingSecret, onPayment })', 1],
    ['callbackHandler({ signingSecret, onPayment: (payment: { orderId: string }) => {} })', 3],
    ['callbackHandler({ signingSecret, onPayment: ({ payment }) => { payment.orderId; } })', 1],
    ['callbackHandler({ signingSecret, onPayment: ({ status }) => {} })', 1],
    ['callbackHandler({ signingSecret, onPayment: (callback, { db }) => {} })', 1],
    ['callbackHandler({ signingSecret, onPayment: ({ key }) => [1].map(async () => key) })', 1],
    ['callbackHandler({ signingSecret, onPayment, store: pool })', 1],
    ["callbackHandler({ signingSecret, onPayment, timestampUnit: 'ms' })", 1],
    ["callbackHandler({ signingSecret, onPayment, toleranceSeconds: '300' })", 1],
    ["callbackHandler({ signingSecret, onPayment, recordSchema: { orderId: 'string' } })", 1],
    ['fetch.callbackHandler({ signingSecret })', 2],
    ['lambda.callbackHandler({ signingSecret })', 2],
    ['createCallbackReceiver({ signingSecret })', 2],
    ["createCallbackReceiver({ signingSecret, onPayment }).receive({ body: '{}' })", 1],
    ["new RetryLaterError('the order is not stored yet', 30)", 1],
  ],
  postgresStore: [
    ['postgresStore(pgClient)', 1],
    ['postgresStore(pgClient, { client })', 3],
    ["postgresStore({ connectionString: 'postgres://127.0.0.1' })", 1],
    ["postgresStore('postgres://127.0.0.1', { client })", 3],
    ['postgresStore(mysqlPool)', 1],
    ['postgresStore(prisma)', 1],
    ['postgresStore(dataSource, { client })', 3],
    ['postgresStore(sql)', 1],
    ['postgresStore(pool, { clent: client })', 3],
    ['postgresStore(pool, { client, leaseMS: 1000 })', 3],
    ["postgresStore(pool, { client: 'key' })", 3],
    ['postgresStore(pglite, { client, prefix: 7 })', 3],
    ['postgresStore(pool).create(input)', 1],
    ['postgresStore(pool, { client }).record(input)', 1],
    ['postgresStore(pool, { client }).record(input, { tx: pool })', 1],
    ['postgresStore(pool, { client }).record(input, { tx: mysqlConnection })', 1],
  ],
  mysqlStore: [
    ['mysqlStore(mysqlConnection)', 1],
    ['mysqlStore(mysqlPoolOfCallbacks, { client })', 3],
    ["mysqlStore({ host: '127.0.0.1' })", 1],
    ['mysqlStore(pool)', 1],
    ['mysqlStore(prisma, { client })', 3],
    ['mysqlStore(mysqlPool, { clent: client })', 3],
    ['mysqlStore(mysqlPool).create(input)', 1],
  ],
  'the other stores': [
    ["sqliteStore('orders.db')", 1],
    ['sqliteStore(sqlite).create(input)', 1],
    ['sqliteStore(sqlite, { client }).record(input)', 1],
    ["redisStore('redis://127.0.0.1')", 1],
    ['redisStore(redis, { ttl: 5 })', 1],
    ['redisStore(redis).create(input)', 1],
    ['memoryStore().create(input)', 1],
    ['memoryStore().markCreated(input)', 1],
    ['memoryStore().recover()', 1],
    ['fromDrizzle(pool)', 2],
    ['fromKysely(pool)', 2],
    ['fromPrisma(pool)', 2],
    ['fromTypeOrm(pool)', 2],
  ],
  'what a store does': [
    ["memoryStore({ client }).create({ ...input, amount: '2500' })", 1],
    ["memoryStore({ client }).create('order-1001')", 1],
    ['memoryStore({ client }).send(input)', 1],
    ["memoryStore({ client }).markNotCreated('order-1001')", 1],
    [
      "memoryStore({ client }).markNotCreated({ ...input, attempts: 1, listedAt: '', kind: 'second-payment' })",
      1,
    ],
    ["memoryStore({ client }).markCreated('order-1001', 'PAY-1')", 1],
    ["memoryStore({ client }).recover({ lookUp: () => 'PAY-1' })", 2],
    ["memoryStore({ client }).attention({ kinds: ['failed'] })", 1],
    ['memoryStore({ client }).prune(30)', 1],
    ['stored.payment', 2],
    ["if (stored.state === 'sending') stored.failure", 1],
    ["if (stored.state === 'paid') onPayment()", 1],
    [
      "switch (stored.state) { case 'created': case 'recorded': case 'rejected': case 'sending': break; default: stored.state satisfies never }",
      1,
    ],
  ],
  'the workbench': [
    ["startMockServer({ callbackURL: 'http://127.0.0.1:3000' })", 1],
    ["startMockServer({ port: '4242' })", 1],
    ["app.mock.faults.add({ on: 'request', type: 'lost-anser' })", 1],
    ["app.mock.setStatus('paid')", 1],
    ["paymentServiceHandlers({ baseURL: 'https://pay.example' })", 1],
    ["checkCallbackEndpoint('http://127.0.0.1:3000')", 1],
    ["checkCallbackEndpoint('http://127.0.0.1:3000', { secret: 'x' })", 1],
    ["signCallback({ payment: 'order-1001' })", 2],
  ],
};

const CODES = Object.values(MISTAKES).flatMap((all) => all.map(([code]) => code));

/** What tsc reports of each line of code, all of which are one module. */
function compile(codes: readonly string[]): readonly string[] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, '.');
  const file = path.resolve('test/types/mistakes.ts');
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  const text = `${GIVEN}${codes.map((code) => `() => { ${code}; };`).join('\n')}\n`;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ESNext)
      : getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, host);
  const source = program.getSourceFile(file);
  const found = codes.map(() => '');
  const first = GIVEN.split('\n').length - 1;
  for (const { start = 0, messageText } of ts.getPreEmitDiagnostics(program, source)) {
    const line = ts.getLineAndCharacterOfPosition(source as ts.SourceFile, start).line - first;
    found[line] = [found[line], ts.flattenDiagnosticMessageText(messageText, '\n')]
      .filter(Boolean)
      .join('\n');
  }
  return found;
}

const reported = compile(CODES);

describe.each(Object.entries(MISTAKES))('a mistake with %s', (_subject, mistakes) => {
  it.each(mistakes)('%s is reported in %i lines', (code, lines) => {
    const report = reported[CODES.indexOf(code)] as string;
    expect(report === '' ? 0 : report.split('\n').length, report).toBe(lines);
    expect(lines).toBeLessThanOrEqual(3);
  });
});

it('with a database is answered by what a store takes', () => {
  expect(reported[CODES.indexOf('postgresStore(pgClient)')]).toMatch(
    /^Argument of type 'Client' is not assignable to parameter of type '"a Pool of pg, .*from… function"'\.$/,
  );
});
