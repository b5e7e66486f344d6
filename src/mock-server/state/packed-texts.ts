const CHUNK_BYTES = 1_048_576;
/** The text's size, in front of it. */
const LENGTH_BYTES = 4;

/**
 * Texts as bytes outside the heap. In the heap they would cost several times their size: it grows to a
 * multiple of what is in use before garbage is collected.
 */
export class PackedTexts {
  #chunks: Buffer[] = [];
  /** Where the free part of the last chunk starts. */
  #end = 0;
  #used = 0;
  #wasted = 0;

  /** Whether repacking the texts that are left would free much memory. */
  get isMostlyWaste(): boolean {
    return this.#wasted > CHUNK_BYTES && this.#wasted > this.#used / 2;
  }

  /** Returns where the text is. */
  add(text: string): number {
    const length = Buffer.byteLength(text);
    const size = LENGTH_BYTES + length;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || this.#end + size > chunk.byteLength) {
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size));
      this.#chunks.push(chunk);
      this.#end = 0;
    }
    const start = this.#end;
    chunk.writeUInt32LE(length, start);
    chunk.write(text, start + LENGTH_BYTES);
    this.#end += size;
    this.#used += size;
    return (this.#chunks.length - 1) * CHUNK_BYTES + start;
  }

  get(place: number): string {
    const { chunk, start, end } = this.#find(place);
    return chunk.toString('utf8', start, end);
  }

  delete(place: number): void {
    const { start, end } = this.#find(place);
    this.#wasted += LENGTH_BYTES + end - start;
  }

  clear(): void {
    this.#chunks = [];
    this.#end = 0;
    this.#used = 0;
    this.#wasted = 0;
  }

  #find(place: number) {
    const chunk = this.#chunks[Math.floor(place / CHUNK_BYTES)];
    if (chunk === undefined) throw new RangeError(`There is no text at ${place}`);
    const at = place % CHUNK_BYTES;
    const start = at + LENGTH_BYTES;
    return { chunk, start, end: start + chunk.readUInt32LE(at) };
  }
}
