import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors.js';
import { failures, sqlStateOf } from '../../src/postgres/failures.js';

const answered = (code: string) => Object.assign(new Error('refused'), { code });

describe('what a driver rejects with', () => {
  it.each([
    [{ code: '42P01' }, '42P01'],
    [{ code: 'EPIPE' }, undefined],
    [{}, undefined],
    ['text', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%o has the SQLSTATE %s', (error, sqlState) => {
    expect(sqlStateOf(error)).toBe(sqlState);
  });

  it.each(['text', null, undefined])('is explained even if it is %o', (error) => {
    expect(failures.explain(error)).toMatchObject({
      code: 'STORE_FAILED',
      cause: expect.any(Error),
    });
  });
});

describe('a statement that Postgres refuses', () => {
  it.each([
    ['25P02', 'all of it must be rolled back'],
    ['42501', 'GRANT SELECT, INSERT, UPDATE, DELETE'],
    ['57014', 'statement_timeout'],
    ['25006', 'connect to the primary'],
    ['53100', 'free space'],
  ])('with %s comes with a remedy: %s', (code, remedy) => {
    expect(failures.explain(answered(code))).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining(remedy),
    });
  });

  it.each(['3D000', '3F000', '42P01', '42703'])(
    'with %s, for what does not exist, says to create it',
    (code) => {
      expect(failures.explain(answered(code))).toMatchObject({
        code: 'MISSING_TABLES',
        message: expect.stringMatching(
          /create the database or schema if needed.*\(docs\/errors\.md#stores\)$/,
        ),
      });
    },
  );
});

it('a connection that is lost during a step leaves its outcome unknown', () => {
  expect(failures.explain(new Error('Connection terminated unexpectedly'))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('unknown whether the step was done; it is safe to repeat it'),
  });
});

describe('a claim', () => {
  it.each(['55P03', '40P01'])('that Postgres ends with %s, for a lock, is busy', (code) => {
    expect(failures.isBusy(answered(code))).toBe(true);
  });

  it.each(['54000', '42P01', '25006', '57014'])('that Postgres ends with %s is not', (code) => {
    expect(failures.isBusy(answered(code))).toBe(false);
  });
});

describe('a connection', () => {
  it.each([
    [answered('57P01'), true],
    [answered('57P05'), true],
    [answered('08006'), true],
    [answered('25P03'), true],
    [new Error('Connection terminated unexpectedly'), true],
    [answered('57014'), false],
    [answered('42P01'), false],
    [new TypeError('tx is not a function'), false],
    [new StoreError('TRANSACTION_LOST', ''), true],
    [new StoreError('STORE_TIMEOUT', ''), false],
    [new StoreError('STORE_FAILED', ''), false],
    [failures.noConnection(answered('ECONNREFUSED')), true],
    [failures.noConnection(answered('28P01')), false],
    [failures.noConnection(new Error('timeout exceeded when trying to connect')), false],
    [failures.lostBeforeBegin(answered('57P01')), true],
  ])('is, after %o, lost: %s', (error, lost) => {
    expect(failures.isLost(error)).toBe(lost);
  });
});
