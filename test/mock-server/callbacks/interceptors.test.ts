import { setupServer } from 'msw/node';
import { describe, onTestFinished } from 'vitest';
import { describeBlockedProcess } from './interceptors.js';

describe('while msw refuses every request of the process', () => {
  describeBlockedProcess(() => {
    const network = setupServer();
    network.listen({ onUnhandledRequest: 'error' });
    onTestFinished(() => network.close());
  });
});
