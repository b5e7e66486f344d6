import { isPlainName } from '../store/change.js';

// Lua scripts, each on the hash of one order. Its fields:
// - `watermark:<reference>`: the rank of the latest processed change of that payment: its time in half microseconds, and one more if it is paid
// - `done:<reference> <key>`: the owner that processed that change
// - `paid`: the reference of the first payment of the order that was paid
// - `paid:<reference>`: the rank of the last `paid` of that payment
// - `owner`: the current claim's fencing token
// - `until`, `lease`: when the claim expires, in epoch milliseconds, and its duration in milliseconds
//
// A client that lost its connection may send a script twice, so each script returns the same answer the
// second time. The clock is the server's, because the merchant's machines need not agree. It may step back at a
// failover, so a claim that seems to have more left than its duration is shortened to that. It does not count as
// expired: its holder may still be alive, and then renews it.

/** The commands that the store sends, and those in its scripts. */
export const COMMANDS = 'EVAL, HDEL, HMGET, HSET, PERSIST, PEXPIRE and TIME';

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * ARGV has owner, reference, key, rank, isPaid (1 or 0), leaseMs. That a payment is paid is true whatever becomes
 * of its change. A granted claim is `claimed:` and two digits: current, secondPayment.
 */
export const CLAIM = `
local done, watermark = 'done:' .. ARGV[2] .. ' ' .. ARGV[3], 'watermark:' .. ARGV[2]
local paidAt = 'paid:' .. ARGV[2]
local claim = redis.call('HMGET', KEYS[1], done, watermark, 'until', 'owner', 'lease', 'paid', paidAt)
local isPaid, paid, at = ARGV[5] == '1', claim[6], tonumber(ARGV[4])
if isPaid and not paid then redis.call('HSET', KEYS[1], 'paid', ARGV[2]) end
if isPaid and not (claim[7] and at <= tonumber(claim[7])) then
  redis.call('HSET', KEYS[1], paidAt, ARGV[4])
end
if claim[1] then return 'duplicate' end
-- At one instant, paid is the later status.
local isBesidePaid = not isPaid and claim[7] and at + 1 == tonumber(claim[7])
${NOW}
if claim[3] and tonumber(claim[3]) > now and claim[4] ~= ARGV[1] then
  local latest = now + claim[5]
  if tonumber(claim[3]) > latest then
    redis.call('HSET', KEYS[1], 'until', string.format('%.0f', latest))
  end
  return 'busy'
end
local deadline = string.format('%.0f', now + ARGV[6])
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', deadline, 'lease', ARGV[6])
redis.call('PERSIST', KEYS[1])
local isOlder = isBesidePaid or (claim[2] and at < tonumber(claim[2]))
local isPaidByOther = paid and paid ~= ARGV[2]
local function digit(is) return is and '1' or '0' end
return 'claimed:' .. digit(not isOlder and not isPaidByOther) .. digit(isPaidByOther and isPaid)
`;

/** ARGV: owner, leaseMs. */
export const RENEW = `
if redis.call('HMGET', KEYS[1], 'owner')[1] ~= ARGV[1] then return 0 end
${NOW}
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[2]))
return 1
`;

/**
 * ARGV: owner, reference, key, rank, retentionMs. A script of a user without a right ends where the right is
 * needed, so every command comes before the change is recorded.
 */
export const FINISH = `
local done, watermark = 'done:' .. ARGV[2] .. ' ' .. ARGV[3], 'watermark:' .. ARGV[2]
local claim = redis.call('HMGET', KEYS[1], done, watermark, 'owner')
if claim[1] == ARGV[1] then return 1 end
if claim[3] ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('HDEL', KEYS[1], 'until', 'lease')
redis.call('HSET', KEYS[1], done, ARGV[1])
if not claim[2] or tonumber(ARGV[4]) > tonumber(claim[2]) then
  redis.call('HSET', KEYS[1], watermark, ARGV[4])
end
redis.call('HDEL', KEYS[1], 'owner')
return 1
`;

/** ARGV: owner, retentionMs. A hash without fields is deleted, and PEXPIRE then does nothing. */
export const RELEASE = `
if redis.call('HMGET', KEYS[1], 'owner')[1] ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'owner', 'until', 'lease')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`;

/** `toStoredName` on WebCrypto: a store over HTTP also runs where there is no `node:crypto`. */
export async function toRedisName(text: string): Promise<string> {
  if (isPlainName(text)) return text;
  const units = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index += 1) {
    units.setUint16(index * 2, text.charCodeAt(index), true);
  }
  const digest = await crypto.subtle.digest('SHA-256', units);
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `sha256:${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}
