import { checkCallbackEndpoint } from 'merchant-payments/testing';
import { SECRET } from './cases/signed-callback.js';
import type { CaseResult } from './results.js';

/** Asks an endpoint over HTTP whether it is right: every check is a case, and none that it can answer may be skipped. */
export async function checkEndpoint(port: number): Promise<readonly CaseResult[]> {
  const url = `http://127.0.0.1:${port}/callbacks/payments`;
  const { checks } = await checkCallbackEndpoint(url, {
    signingSecret: SECRET,
    countEffects: `http://127.0.0.1:${port}/effects`,
  });
  // It takes any order, so none can be overtaken.
  const cases = checks.filter(({ id }) => !id.startsWith('overtaking'));
  return cases.map(({ id, title, outcome, detail }) => ({
    group: 'endpoint',
    name: `${id}: ${title}`,
    ...(outcome === 'passed' ? {} : { failure: `${outcome}: ${detail}` }),
  }));
}
