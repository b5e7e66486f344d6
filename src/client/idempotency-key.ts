/**
 * The key of a payment: the same for the same fields in any order, so that every process makes the same of what is
 * stored anyway. With other fields the payment is another, since services refuse a key that comes with another body.
 */
export function toIdempotencyKey(body: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(canonicalize(body)).digest();
  // A UUID of version 8 (RFC 9562), which is the shape that most services take, and within the length of all.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** JSON with the fields of its objects in order. */
function canonicalize(json: string): string {
  return JSON.stringify(JSON.parse(json), (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}
