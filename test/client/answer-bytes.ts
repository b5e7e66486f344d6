/** The bytes of answers, right and wrong, for a raw server. */
export const JSON_TYPE = 'content-type: application/json';

export type Content = string | Buffer;

export function answer(status: number, headers: readonly string[], body: Content = ''): Buffer {
  const head = [`HTTP/1.1 ${status} Text`, ...headers].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

/** With its length, as most answers are. */
export function sized(status: number, body: Content, ...headers: string[]): Buffer {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return answer(status, [JSON_TYPE, length, ...headers], body);
}

/** Without a length: the end of the connection ends it. */
export function closed(status: number, body: Content, ...headers: string[]): Buffer {
  return answer(status, ['connection: close', ...headers], body);
}

export function chunked(body: Content, ...headers: string[]): Buffer {
  const size = Buffer.byteLength(body).toString(16);
  const chunks = [Buffer.from(`${size}\r\n`), Buffer.from(body), Buffer.from('\r\n0\r\n\r\n')];
  return answer(201, [JSON_TYPE, 'transfer-encoding: chunked', ...headers], Buffer.concat(chunks));
}
