import * as callback from '../../src/callback/index.js';
import * as web from '../../src/callback/web/index.js';
import { describeVerifierProperties } from './verifier-contract.js';

describeVerifierProperties({ name: 'merchant-payments/callback, on node:crypto', ...callback });
describeVerifierProperties({
  name: 'merchant-payments/callback/web, on WebCrypto',
  ...web,
});
