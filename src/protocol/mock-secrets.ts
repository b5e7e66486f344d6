import { InvalidOptionError } from '../errors.js';
import { readVariable } from './environment.js';

/** The secrets that the mock of the command line has unless it is given others: everyone knows them. */
export const MOCK_API_SECRET = 'mock_api_secret';
export const MOCK_SIGNING_SECRET = 'mock_signing_secret';

/** Whether it is the signing secret that every copy of the mock has. */
export function isMockSigningSecret(secret: string | Uint8Array): boolean {
  const text = typeof secret === 'string' ? secret : String.fromCharCode(...secret.subarray(0, 32));
  return text === MOCK_SIGNING_SECRET;
}

/**
 * Refuses the mock's signing secret where customers pay. Called for each callback: a build that loads the
 * application's modules also runs with NODE_ENV=production.
 *
 * @param isOfMock whether one of the secrets is that one
 * @throws {InvalidOptionError} in production
 */
export function assertOwnSecret(isOfMock: boolean): void {
  if (!isOfMock || readVariable('NODE_ENV') !== 'production') return;
  throw new InvalidOptionError(
    'signingSecret',
    "signingSecret must be your own where NODE_ENV is production; received the mock's, with which anyone could sign: set MERCHANT_PAYMENTS_SIGNING_SECRET",
  );
}
