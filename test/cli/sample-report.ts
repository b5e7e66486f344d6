import type { EndpointCheck, EndpointReport } from '../../src/testing/index.js';

/** Text with all that terminals and XML must not get as it is. */
export const HOSTILE = 'a\u001b[31m<b attr="x">&amp;]]>\u202e\u0000\ud800\ufffe\r\n\té😀';

export const passed: EndpointCheck = {
  id: 'reachable',
  title: 'Answers over HTTP',
  outcome: 'passed',
  detail: 'the endpoint answered 200',
  remedy: 'r',
  status: 200,
  referenceNumbers: [],
};

export const failed: EndpointCheck = {
  id: 'wrong-secret',
  title: 'Refuses a signature made with another secret, however long its title may be in the end',
  outcome: 'failed',
  detail: `the endpoint answered 200 ${HOSTILE}`,
  remedy: `Verify with callbackHandler. See ${'https://example.test/'.repeat(8)}`,
  status: 200,
  referenceNumbers: ['0b7f3f4e-1111-4222-8333-444455556666'],
};

export const skipped: EndpointCheck = {
  id: 'valid-effect',
  title: 'Acts once on a valid callback',
  outcome: 'skipped',
  detail: 'not tried: it needs a probe',
  remedy: 'r',
  referenceNumbers: [],
};

export function createReport(...checks: readonly EndpointCheck[]): EndpointReport {
  const count = (wanted: string) => checks.filter(({ outcome }) => outcome === wanted).length;
  return {
    url: 'http://127.0.0.1:3000/callbacks?x=<y>',
    passed: count('failed') === 0,
    checks,
    counts: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
  };
}
