import type { SeenRequest } from './answering-server.js';

// An empty name too, and the versions that parsers read alike, whatever they are in truth.
const LINE = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]*:[^\\r\\n]*(?:\\r\\n[ \\t][^\\r\\n]*)*\\r\\n";
const HEAD = `HTTP/(?:0\\.9|1\\.0|1\\.1|2\\.0) (\\d{3})(?: [^\\r\\n]*)?\\r\\n(?:${LINE})*\\r\\n`;
const FIRST = new RegExp(`^(?:\\r\\n)*${HEAD}`);
// What some parser might take for a head: whatever begins as one. The fetch of Node 20 ends a head at
// a CR, whatever follows it.
const LENIENT = /HTTP\/\d\.\d (\d{3})/g;

/**
 * The statuses that a client may have read in the bytes written for a request, by a reading of
 * HTTP/1.1 that has nothing of the client's. A request that is the first on its connection, and whose
 * answer's bytes were left as they were, has one at most: that of the first whole head that is no
 * 1xx. Otherwise any that is in the bytes: on a connection that was used before, what was written for
 * an earlier request may be taken for the answer, as HTTP/1.1 has no way to tell.
 */
export function readableStatuses({ written, writtenBefore, answer }: SeenRequest): number[] {
  const own = Buffer.concat(written).toString('latin1');
  if (writtenBefore.length === 0 && !answer.isMutated) return finalStatus(own);
  const all = `${Buffer.concat(writtenBefore).toString('latin1')}${own}`;
  return [...all.matchAll(LENIENT)].map(([, status]) => Number(status));
}

function finalStatus(text: string): number[] {
  for (let rest = text; ; ) {
    const found = FIRST.exec(rest);
    if (found === null) return [];
    const status = Number(found[1]);
    if (status < 100 || status >= 200) return [status];
    rest = rest.slice(found[0].length);
  }
}
