import nock from 'nock';
import { describe, onTestFinished } from 'vitest';
import { describeBlockedProcess } from './interceptors.js';

describe('while nock refuses every request of the process', () => {
  describeBlockedProcess(() => {
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
    onTestFinished(() => {
      nock.enableNetConnect();
      nock.restore();
    });
  });
});
