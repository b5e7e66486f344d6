// For workerd with its Node compatibility: the verifier on node:crypto too.

import { callback } from '../cases/callback.js';
import { callbackWeb } from '../cases/callback-web.js';
import { fetchAdapter } from '../cases/fetch.js';
import { createWorker } from './worker.js';

export default createWorker([callback, callbackWeb, fetchAdapter]);
