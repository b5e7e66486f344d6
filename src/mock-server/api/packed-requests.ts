import { parseJson } from './http-messages.js';
import type { RecordedRequest } from './recorded-request.js';

type PackedFields = [
  requestId: string,
  atMs: number,
  method: string,
  path: string,
  body: string,
  authenticated: boolean,
  status: number | null,
  fault: RecordedRequest['fault'] | null,
];

/** Packs requests that are over into one text, beside their shared headers. Returns what restores them. */
export function packRequests(requests: readonly RecordedRequest[]): () => RecordedRequest[] {
  const headers = requests.map((request) => request.headers);
  const text = JSON.stringify(requests.map(toPackedFields));
  return () =>
    (JSON.parse(text) as PackedFields[]).map((fields, index) => unpack(fields, headers[index]));
}

function toPackedFields(request: RecordedRequest): PackedFields {
  const { requestId, at, method, path, body, authenticated, status = null, fault = null } = request;
  return [requestId, at.getTime(), method, path, body, authenticated, status, fault];
}

function unpack(fields: PackedFields, headers: RecordedRequest['headers'] = {}): RecordedRequest {
  const [requestId, atMs, method, path, body, authenticated, status, fault] = fields;
  return {
    requestId,
    at: new Date(atMs),
    method,
    path,
    headers,
    body,
    json: parseJson(body),
    authenticated,
    ended: true,
    ...(fault !== null && { fault }),
    ...(status !== null && { status }),
  };
}
