import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  ApiError,
  type CallbackVerificationError,
  type CallbackVerificationErrorCode,
  ConnectionError,
  type ErrorCode,
  errorCodes,
  InvalidCredentialsError,
  InvalidOptionError,
  type InvalidRequestError,
  type Issue,
  MerchantPaymentsError,
  type RequestOutcome,
} from '../../src/index.js';

describe('the types of errors', () => {
  it('have literal codes to match on', () => {
    expectTypeOf<InvalidOptionError['code']>().toEqualTypeOf<'INVALID_OPTION'>();
    expectTypeOf<InvalidRequestError['code']>().toEqualTypeOf<'INVALID_REQUEST'>();
    expectTypeOf<ConnectionError['code']>().toEqualTypeOf<'CONNECTION_FAILED'>();
    expectTypeOf<InvalidCredentialsError['code']>().toEqualTypeOf<'INVALID_CREDENTIALS'>();
    expectTypeOf<
      CallbackVerificationError['code']
    >().toEqualTypeOf<CallbackVerificationErrorCode>();
    expectTypeOf<ApiError['code']>().toEqualTypeOf<string>();
    expectTypeOf<CallbackVerificationErrorCode>().toExtend<ErrorCode>();
    expect(errorCodes).toContain('INVALID_OPTION');
  });

  it('let a union be told apart by code', () => {
    const optionOf = (error: InvalidOptionError | ConnectionError) => {
      if (error.code === 'CONNECTION_FAILED') return error.requestOutcome;
      expectTypeOf(error).toEqualTypeOf<InvalidOptionError>();
      return error.option;
    };
    expect(optionOf).toBeTypeOf('function');
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

  it('carry issues and skew where they apply', () => {
    expectTypeOf<InvalidRequestError['issues']>().toEqualTypeOf<readonly Issue[]>();
    expectTypeOf<CallbackVerificationError['issues']>().toEqualTypeOf<
      readonly Issue[] | undefined
    >();
    expectTypeOf<CallbackVerificationError['skewSeconds']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<RequestOutcome>().toEqualTypeOf<
      'not-sent' | 'rejected' | 'accepted' | 'unknown'
    >();
    expect(InvalidOptionError.prototype).toBeInstanceOf(MerchantPaymentsError);
    expect(ConnectionError.prototype).toBeInstanceOf(MerchantPaymentsError);
  });
});
