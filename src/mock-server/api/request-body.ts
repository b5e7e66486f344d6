/** A request's body, or that it was too long to be read. */
export type RequestBody =
  | { readonly tooLarge: false; readonly bytes: Uint8Array }
  | { readonly tooLarge: true };

/** Reads a body, counting the bytes as they arrive: a Content-Length may lie or be absent. */
export async function readRequestBody(request: Request, maxBytes: number): Promise<RequestBody> {
  if (request.body === null) return { tooLarge: false, bytes: new Uint8Array() };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      return { tooLarge: true };
    }
    chunks.push(part.value);
  }
  return { tooLarge: false, bytes: Buffer.concat(chunks) };
}
