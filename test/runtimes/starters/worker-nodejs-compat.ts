// For workerd with its Node compatibility: the verifier on node:crypto too.

import { callback } from '../cases/callback.js';
import { callbackAsync } from '../cases/callback-async.js';
import { createWorker } from './worker.js';

export default createWorker([callback, callbackAsync]);
