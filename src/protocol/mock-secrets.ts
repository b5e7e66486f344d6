/** The secrets that the mock of the command line has unless it is given others: everyone knows them. */
export const MOCK_API_SECRET = 'mock_api_secret';
export const MOCK_SIGNING_SECRET = 'mock_signing_secret';

/** Whether it is the signing secret that every copy of the mock has. */
export function isMockSigningSecret(secret: string | Uint8Array): boolean {
  const text = typeof secret === 'string' ? secret : String.fromCharCode(...secret.subarray(0, 32));
  return text === MOCK_SIGNING_SECRET;
}
