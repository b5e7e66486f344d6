import { describe, expect, it } from 'vitest';
import { createClient, httpAnswer, order, record, startRawServer } from './raw-server.js';

const created = async (body: string, contentType?: string, status = 201) => {
  const headers: Record<string, string> =
    contentType === undefined ? {} : { 'content-type': contentType };
  const server = await startRawServer({ answer: () => httpAnswer(status, body, headers) });
  return createClient(server.url).payments.create(order);
};

const json = JSON.stringify(record);

describe('a 2xx', () => {
  it.each([200, 299])('is a success with status %i', async (status) => {
    const { payment, response } = await created(json, 'application/json', status);
    expect(payment).toEqual(record);
    expect(response).toMatchObject({ status, body: record, attempts: 1 });
  });

  it.each<[string, string, string | undefined, unknown]>([
    ['markup labelled JSON', '<p>Created</p>', 'application/json', '<p>Created</p>'],
    ['broken JSON', '{"referenceNumber":"7b0', 'application/json', '{"referenceNumber":"7b0'],
    ['a JSON number', '7', 'application/problem+json; charset=utf-8', 7],
    ['null as plain text', 'null', 'text/plain', 'null'],
    ['a number without a type', '404', undefined, '404'],
    ['a quoted word with a type that only mentions JSON', '"a"', 'text/plain; of=x/json', '"a"'],
  ])('stays a success with %s', async (_what, body, contentType, parsed) => {
    const { payment, response } = await created(body, contentType);
    expect(response.body).toEqual(parsed);
    expect(payment).toEqual({});
  });

  it('leaves a known field that is no string out of payment, and in response.body', async () => {
    const body = { ...record, status: 3, referenceNumber: null, note: 5, fees: [{ amount: 1 }] };
    const { payment, response } = await created(JSON.stringify(body), 'application/json');
    const { status: _status, referenceNumber: _number, ...rest } = body;
    expect(payment).toEqual(rest);
    expect(response.body).toEqual(body);
  });
});
