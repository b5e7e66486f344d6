// For workerd without its Node compatibility.

import { callbackWeb } from '../cases/callback-web.js';
import { fetchAdapter } from '../cases/fetch.js';
import { createWorker } from './worker.js';

if ('process' in globalThis || 'Buffer' in globalThis) {
  throw new Error('This workerd has Node compatibility');
}

export default createWorker([callbackWeb, fetchAdapter]);
