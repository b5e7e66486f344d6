import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  ApiError,
  ConnectionError,
  type ErrorCode,
  errorCodes,
  InvalidCredentialsError,
  InvalidOptionError,
  type InvalidRequestError,
  MerchantPaymentsError,
  RequestError,
  type RequestOutcome,
  RetryLaterError,
  StoreError,
} from '../../src/index.js';
import { MockServerError } from '../../src/mock-server/index.js';

describe('the types of errors', () => {
  it('are exhaustive in a switch', () => {
    const describeError = (error: RequestError): string => {
      switch (error.code) {
        case 'API_ERROR':
        case 'INVALID_CREDENTIALS':
          return `${error.httpStatus} ${error.serviceCode}`;
        case 'INVALID_REQUEST':
          return error.issues.map(({ message }) => message).join();
        case 'INVALID_OPTION':
        case 'SECRET_UNAVAILABLE':
          return error.option;
        case 'CONNECTION_FAILED':
        case 'TIMEOUT':
        case 'ABORTED':
        case 'RESPONSE_UNUSABLE':
          return error.requestOutcome;
        default:
          return error satisfies never;
      }
    };
    expect(describeError(new ConnectionError('m', { requestOutcome: 'unknown' }))).toBe('unknown');
    const response = { status: 400, headers: {}, body: '', text: '', attempts: 1 };
    const own = { response, serviceCode: 'INVALID_REQUEST', requestOutcome: 'rejected' } as const;
    expect(describeError(new ApiError('m', own))).toBe('400 INVALID_REQUEST');
  });

  it('narrow by code among all classes', () => {
    const describeError = (error: unknown): string => {
      if (!(error instanceof MerchantPaymentsError)) return 'not ours';
      expectTypeOf(error).toEqualTypeOf<MerchantPaymentsError>();
      switch (error.code) {
        case 'INVALID_REQUEST':
          expectTypeOf(error).toEqualTypeOf<InvalidRequestError>();
          return error.requestOutcome;
        case 'LEASE_LOST':
          expectTypeOf(error).toEqualTypeOf<StoreError>();
          return error.code;
        case 'PORT_IN_USE':
          expectTypeOf(error).toEqualTypeOf<MockServerError>();
          return error.code;
        default:
          return error.name;
      }
    };
    expect(describeError(new MockServerError('PORT_IN_USE', 'm'))).toBe('PORT_IN_USE');
    expect(describeError(new StoreError('CHANGE_PARKED', 'm'))).toBe('StoreError');
  });

  it('have requestOutcome and safeToRetry for certain on each error of a call', () => {
    const outcomeOf = (error: unknown): RequestOutcome | undefined => {
      if (!(error instanceof RequestError)) return undefined;
      expectTypeOf(error.safeToRetry).toEqualTypeOf<boolean>();
      if (error.code === 'INVALID_OPTION') expectTypeOf(error.safeToRetry).toEqualTypeOf<boolean>();
      return error.requestOutcome;
    };
    expect(outcomeOf(new InvalidOptionError('timeoutMs', 'm'))).toBeUndefined();
    expectTypeOf<ConnectionError['requestOutcome']>().toEqualTypeOf<RequestOutcome>();
    expectTypeOf<ApiError['safeToRetry']>().toEqualTypeOf<boolean>();
  });

  it('cover every code, and no other', () => {
    type Known = Exclude<MerchantPaymentsError, ApiError>['code'];
    expectTypeOf<
      Known | 'API_ERROR' | InvalidCredentialsError['code']
    >().toEqualTypeOf<ErrorCode>();
    expect(errorCodes).toContain('API_ERROR');
  });

  it('narrow an unknown by instanceof', () => {
    const classify = (error: unknown) => {
      if (error instanceof InvalidCredentialsError) return error.httpStatus;
      if (error instanceof ApiError) {
        expectTypeOf(error.requestId).toEqualTypeOf<string | undefined>();
        expectTypeOf(error.retryAfterSeconds).toEqualTypeOf<number | undefined>();
        return error.httpStatus;
      }
      if (error instanceof MerchantPaymentsError) {
        expectTypeOf(error.requestOutcome).toEqualTypeOf<RequestOutcome | undefined>();
        return error.code;
      }
      return undefined;
    };
    expect(classify(new Error('other'))).toBeUndefined();
  });

  it('let a subclass have a name of its own', () => {
    class OrderMissingError extends RetryLaterError {
      override name = 'OrderMissingError';
    }
    class NamedForGood extends ConnectionError {
      override readonly name = 'NamedForGood' as const;
    }
    expectTypeOf<OrderMissingError['code']>().toEqualTypeOf<'RETRY_LATER'>();
    expectTypeOf<NamedForGood['name']>().toEqualTypeOf<'NamedForGood'>();
    expectTypeOf<ApiError['name']>().toEqualTypeOf<string>();
    expect(new OrderMissingError('m').name).toBe('OrderMissingError');
    expect(new NamedForGood('m', { requestOutcome: 'unknown' }).name).toBe('NamedForGood');
  });
});
