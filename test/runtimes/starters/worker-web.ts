// For workerd without its Node compatibility.

import { callbackAsync } from '../cases/callback-async.js';
import { createWorker } from './worker.js';

if ('process' in globalThis || 'Buffer' in globalThis) {
  throw new Error('This workerd has Node compatibility');
}

export default createWorker([callbackAsync]);
