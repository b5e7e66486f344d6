/**
 * Mutants that no test can or should notice, and why. `code` is the source line in which the mutant
 * starts, `to` what stands in place of the mutated piece of it (white space folded, 120 characters).
 *
 * @type {readonly { file: string; code: string; to: string; why: string }[]}
 */
export const EXPLAINED_SURVIVORS = [
  // src/callback
  {
    file: 'src/callback/record.ts',
    code: "decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });",
    to: '{}',
    why: 'Made once per process, before this mutant is chosen; tests of other bytes and of a byte order mark notice it by hand.',
  },
  {
    file: 'src/callback/record.ts',
    code: "decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });",
    to: 'false',
    why: 'Made once per process, before this mutant is chosen; tests of other bytes and of a byte order mark notice it by hand.',
  },
  {
    file: 'src/callback/signature.ts',
    code: "if ((allowed === 'auto' || allowed === 'base64') && BASE64.test(text)) return 'base64';",
    to: '""',
    why: "Callers only tell 'hex' from the rest, and one decoder reads both kinds of base64.",
  },
  {
    file: 'src/callback/signature.ts',
    code: "if ((allowed === 'auto' || allowed === 'base64url') && BASE64URL.test(text)) return 'base64';",
    to: '""',
    why: "Callers only tell 'hex' from the rest, and one decoder reads both kinds of base64.",
  },
  {
    file: 'src/callback/headers.ts',
    code: 'const found: FoundHeaders = { timestamp: undefined, signature: undefined };',
    to: '{}',
    why: 'A field that is absent reads as undefined; all objects of one shape are only faster.',
  },
  {
    file: 'src/callback/headers.ts',
    code: 'if (name.length === NAME_LENGTH) addHeader(found, name, headers[name]);',
    to: 'true',
    why: 'Spares lower-casing names of another length, which addHeader would leave alone.',
  },
  {
    file: 'src/callback/headers.ts',
    code: "if (typeof value === 'string' && earlier === undefined) return value;",
    to: 'false',
    why: 'The way of nearly every callback, cut short; the lines below come to the same.',
  },
  {
    file: 'src/callback/headers.ts',
    code: "if (typeof value === 'string' && earlier === undefined) return value;",
    to: '""',
    why: 'The way of nearly every callback, cut short; the lines below come to the same.',
  },
  {
    file: 'src/callback/timestamp.ts',
    code: 'if (text.length === 0 || text.length > MAX_DIGITS) return undefined;',
    to: 'false',
    why: 'An empty header was refused as missing before; the function does not count on it.',
  },
  {
    file: 'src/callback/timestamp.ts',
    code: 'return skewSeconds < 0',
    to: 'skewSeconds <= 0',
    why: 'A skew of 0 lies inside every window.',
  },
  {
    file: 'src/callback/verify.ts',
    code: "received.write(signature, 0, 64, 'latin1');",
    to: '""',
    why: 'Without an encoding Buffer writes UTF-8, which is the same for hex digits, only slower.',
  },
  {
    file: 'src/callback/verify.ts',
    code: "computed.write(hmac.update(prefix).update(body).digest('hex'), 0, 64, 'latin1');",
    to: '""',
    why: 'Without an encoding Buffer writes UTF-8, which is the same for hex digits, only slower.',
  },
  {
    file: 'src/callback/verify.ts',
    code: "return createSecretKey(secret, 'utf8');",
    to: '""',
    why: 'Node takes an empty encoding for UTF-8.',
  },
  // src/receiver
  {
    file: 'src/protocol/instant.ts',
    code: "if (PLAIN.test(text)) return { occurredAt: new Date(text), microseconds: 0, finer: '' };",
    to: 'false',
    why: 'The way of nearly every callback, cut short; the lines below come to the same.',
  },
  {
    file: 'src/protocol/instant.ts',
    code: "const [, year, month, day, hour, minute, second = '0', fraction = '', sign, ...offset] =",
    to: '""',
    why: 'Number of an empty text is 0, too.',
  },
  {
    file: 'src/protocol/instant.ts',
    code: 'DATE_TIME.exec(text) ?? [];',
    to: '["Stryker was here"]',
    why: 'Only texts that the verifier has taken for date-times come here.',
  },
  {
    file: 'src/protocol/instant.ts',
    code: "const [offsetHours = '0', offsetMinutes = '0'] = offset;",
    to: '""',
    why: 'Number of an empty text is 0, too.',
  },
  {
    file: 'src/protocol/instant.ts',
    code: "(Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);",
    to: "(Number(offsetHours) * 60 + Number(offsetMinutes)) / (sign === '-' ? -1 : 1)",
    why: 'Multiplied or divided by 1 or -1, it is the same.',
  },
  {
    file: 'src/receiver/node-request.ts',
    code: 'resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size));',
    to: 'false',
    why: 'Spares a copy of the body.',
  },
  {
    file: 'src/receiver/body.ts',
    code: 'if (done || value === undefined) return join(chunks, size);',
    to: 'done && value === undefined',
    why: 'A stream that is done gives no value.',
  },
  {
    file: 'src/receiver/body.ts',
    code: 'if (done || value === undefined) return join(chunks, size);',
    to: 'false',
    why: 'A stream that is not done gives a value; the compiler does not know.',
  },
  {
    file: 'src/receiver/body.ts',
    code: 'if (chunks.length === 1) return chunks[0] as Uint8Array;',
    to: 'false',
    why: 'Spares a copy of the body.',
  },
  {
    file: 'src/receiver/body.ts',
    code: 'for (let index = 0; index < rawBody.length; index += 1) {',
    to: 'index <= rawBody.length',
    why: 'Beyond the end charCodeAt gives NaN, which adds nothing.',
  },
  {
    file: 'src/receiver/observation.ts',
    code: 'if (channel === undefined || !hasSubscribers(channel)) return run(undefined);',
    to: 'false',
    why: 'A trace without subscribers is only slower; a runtime without the channel is in test/runtimes.',
  },
  {
    file: 'src/receiver/observation.ts',
    code: 'if (channel === undefined || !hasSubscribers(channel)) return run(undefined);',
    to: 'channel === undefined && !hasSubscribers(channel)',
    why: 'A trace without subscribers is only slower; a runtime without the channel is in test/runtimes.',
  },
  {
    file: 'src/receiver/payment-work.ts',
    code: "this.#state = 'done';",
    to: '""',
    why: "Asked for are 'running' and 'failed' alone.",
  },
  {
    file: 'src/receiver/payment-work.ts',
    code: 'this.#expire?.(error);',
    to: 'this.#expire(error)',
    why: 'inTime() has set it before any timer can fire.',
  },
  {
    file: 'src/receiver/payment-work.ts',
    code: 'this.#controller?.abort(error);',
    to: 'this.#controller.abort',
    why: 'The line before has made it.',
  },
  {
    file: 'src/receiver/payment-work.ts',
    code: 'for (const source of [this.#inbox?.signal, this.#caller.getSignal?.()]) {',
    to: 'this.#inbox.signal',
    why: 'run() has set it before onPayment can ask for the signal.',
  },
  // src/inbox/postgres
  {
    file: 'src/storage/postgres/turns.ts',
    code: 'const next = this.#queues.get(name)?.shift();',
    to: 'this.#queues.get(name).shift',
    why: 'Only a caller that entered can leave, so the queue exists.',
  },
  // src/inbox/redis
  {
    file: 'src/inbox/redis/redis-inbox.ts',
    code: 'if (renewed) confirmedAtMs = renewingAtMs;',
    to: 'true',
    why: 'A claim that could not be renewed is lost, and is not finished.',
  },
  {
    file: 'src/inbox/redis/redis-inbox.ts',
    code: "const answer = run(CLAIM, owner, key, occurredAt, event.processStale ? '1' : '0', lease);",
    to: '""',
    why: "The script asks whether it is '1'.",
  },
  {
    file: 'src/inbox/redis/client.ts',
    code: 'if (performance.now() + RETRY_PAUSE_MS >= lastMs) throw error;',
    to: 'performance.now() + RETRY_PAUSE_MS > lastMs',
    why: 'Differs for one instant of a clock that counts in microseconds.',
  },
  // src/inbox/sqlite
  {
    file: 'src/inbox/sqlite/sqlite-inbox.ts',
    code: 'if (renewed) expiresAtMs = untilMs;',
    to: 'true',
    why: 'A claim that could not be renewed is lost, and is not finished.',
  },
  // src/inbox
  {
    file: 'src/inbox/contract/cases/runs.ts',
    code: "const error = new Error('the work failed');",
    to: '""',
    why: 'Made up for the case, which asks only whether the very same error comes back.',
  },
  {
    file: 'src/inbox/contract/cases/runs.ts',
    code: "const error = new Error('the work threw');",
    to: '""',
    why: 'Made up for the case, which asks only whether the very same error comes back.',
  },
  {
    file: 'src/inbox/contract/cases/runs.ts',
    code: "const error = new Error('the first failed');",
    to: '""',
    why: 'Made up for the case, which asks only whether the very same error comes back.',
  },
  {
    file: 'src/inbox/contract/stage.ts',
    code: 'await this.#subject.loseClaim?.(event);',
    to: 'this.#subject.loseClaim(event)',
    why: 'Only cases that need loseClaim call it, and they are skipped where there is none.',
  },
  {
    file: 'src/inbox/contract/stage.ts',
    code: 'for (let round = 0; round < 3; round += 1) {',
    to: 'round <= 3',
    why: 'A fourth round only gives the deliveries more time; how many are enough is a choice.',
  },
  // src/client
  {
    file: 'src/client/base-url.ts',
    code: '/^127\\.\\d+\\.\\d+\\.\\d+$/.test(hostname)',
    to: '/127\\.\\d+\\.\\d+\\.\\d+$/',
    why: 'A host that ends in a number must be an IPv4 address, or the URL does not parse: nothing can stand before the 127.',
  },
  {
    file: 'src/client/observation.ts',
    code: 'if (logger !== undefined) log(logger, trace, failure);',
    to: 'true',
    why: 'What a missing logger throws would be swallowed as what a broken one throws: this is only faster.',
  },
  {
    file: 'src/client/prepared-request.ts',
    code: 'extraBody === undefined',
    to: 'false',
    why: 'The longer way, which also looks for what JSON does not carry, makes the same text of the three fields.',
  },
  {
    file: 'src/client/send.ts',
    code: "let known: RequestOutcome = 'not-sent';",
    to: '""',
    why: 'The first attempt puts its own outcome in place of this one, whichever it is: nothing is less certain.',
  },
  {
    file: 'src/client/credentials.ts',
    code: 'redacted.length >= Math.min(MIN_BODY_PART, requestBody.length)',
    to: 'true',
    why: 'Spares spelling out the body for texts too short to hold a part of it; slower, and the same unless an echo left out white space inside a value.',
  },
  {
    file: 'src/client/redact.ts',
    code: 'if (length > text.length) continue;',
    to: 'false',
    why: 'A text has no part that is longer than itself; looking for one all the same is only slower.',
  },
  {
    file: 'src/client/redact.ts',
    code: 'if (mayBeThere[hash & 0xffff] === 0) return;',
    to: 'false',
    why: 'The map below tells the same, only slower.',
  },
  {
    file: 'src/client/redact.ts',
    code: 'hash |= 0;',
    to: 'hash &= 0',
    why: 'All parts have the same hash then, and comparing them is only slower.',
  },
  {
    file: 'src/client/transport/fetch.ts',
    code: "const reason = isUnreadableAnswer(error) ? 'unusable' : 'connection';",
    to: '""',
    why: "Callers only tell 'unusable' and 'given-up' from the rest.",
  },
  {
    file: 'src/client/transport/fetch.ts',
    code: "return this.#answer(response, new Uint8Array(0), { reason: 'lost', cause });",
    to: '""',
    why: "Callers only tell 'too-large' and 'given-up' from the rest.",
  },
  {
    file: 'src/client/transport/own-route.ts',
    code: 'connect: keepSockets(buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false }), sockets),',
    to: '{}',
    why: 'undici waits the same ten seconds by itself, for now; a test would have to wait them, too.',
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: "this.#fail('connection', undefined);",
    to: '""',
    why: "Callers only tell 'unusable' and 'given-up' from the rest.",
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: '} else if (this.#body.length === 0) {',
    to: 'false',
    why: 'Spares copying a body that comes in one piece.',
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: '} else if (this.#body.length === 0) {',
    to: 'this.#body.length !== 0',
    why: 'Spares copying a body that comes in one piece.',
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: "this.#fail(isUnreadableAnswer(error) ? 'unusable' : 'connection', error);",
    to: '""',
    why: "Callers only tell 'unusable' and 'given-up' from the rest.",
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: "this.#settle(this.#answer({ reason: reason === 'given-up' ? reason : 'lost', cause }));",
    to: 'true',
    why: "Callers only tell 'too-large' and 'given-up' from the rest.",
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: "this.#settle(this.#answer({ reason: reason === 'given-up' ? reason : 'lost', cause }));",
    to: '""',
    why: "Callers only tell 'too-large' and 'given-up' from the rest.",
  },
  {
    file: 'src/client/transport/exchange-handler.ts',
    code: 'if (this.#settled) return;',
    to: 'false',
    why: 'undici passes on nothing more after an abort; a dispatcher of the user might.',
  },
];
