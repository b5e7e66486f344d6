import http from 'node:http';
import https from 'node:https';
import { performance } from 'node:perf_hooks';
import type { CallbackRequest } from './callback-request.js';
import type { SentCallback } from './sent-callback.js';

/** An answer's body is shown only; more of it is not read. */
const MAX_ANSWER_BYTES = 4_096;

type Answer = Pick<SentCallback, 'outcome' | 'response' | 'errorCode'>;

/** Posts a callback once, following no redirect. Never rejects: a failure is a result. */
export async function postCallback(
  { url, headers, rawBody }: CallbackRequest,
  timeoutMs: number,
): Promise<SentCallback> {
  const sentAt = new Date();
  const startedMs = performance.now();
  const answer = await exchange({ url, headers, rawBody }, timeoutMs);
  const latencyMs = performance.now() - startedMs;
  return { url: url.href, attempt: 1, copy: 0, sentAt, headers, rawBody, latencyMs, ...answer };
}

function exchange({ url, headers, rawBody }: CallbackRequest, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    const { request: open } = url.protocol === 'https:' ? https : http;
    const request = open(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': String(rawBody.byteLength) },
    });
    const settle = (answer: Answer) => {
      clearTimeout(timer);
      resolve(answer);
      request.destroy();
    };
    const timer = setTimeout(() => settle({ outcome: 'timed-out' }), timeoutMs);
    const fail = (error: NodeJS.ErrnoException) =>
      settle({ outcome: 'failed', errorCode: error.code ?? error.name });
    request.on('error', fail);
    request.on('response', (response) => {
      readAnswer(response).then(settle, fail);
    });
    request.end(rawBody);
  });
}

async function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  const status = response.statusCode ?? 0;
  return {
    outcome: status >= 200 && status < 300 ? 'acknowledged' : 'refused',
    response: { status, body: Buffer.concat(chunks).toString('utf8', 0, MAX_ANSWER_BYTES) },
  };
}
