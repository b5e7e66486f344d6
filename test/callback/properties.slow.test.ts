import {
  callbackKey,
  createAsyncCallbackVerifier,
  createCallbackVerifier,
  verifyCallback,
  verifyCallbackAsync,
} from '../../src/callback/index.js';
import { describeVerifierProperties } from './verifier-contract.js';

describeVerifierProperties({
  name: 'verifyCallback, on node:crypto',
  verifyCallback,
  createCallbackVerifier,
  callbackKey,
});
describeVerifierProperties({
  name: 'verifyCallbackAsync, on WebCrypto',
  verifyCallback: verifyCallbackAsync,
  createCallbackVerifier: createAsyncCallbackVerifier,
  callbackKey,
});
