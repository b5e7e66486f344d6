/** A piece of this many characters is a leak, in whatever spelling. */
const PIECE_LENGTH = 12;

export interface Leak {
  /** The name of what was planted. */
  readonly secret: string;
  readonly spelling: string;
  /** What was found. */
  readonly piece: string;
}

type Find = (shown: string | Uint8Array) => Leak[];

/** Makes a search for pieces of what was planted, in every spelling. */
export function createSearch(planted: Readonly<Record<string, string | Uint8Array>>): Find {
  const pieces = new Map<string, Leak>();
  for (const [secret, value] of Object.entries(planted)) {
    for (const [spelling, text] of Object.entries(spellingsOf(value))) {
      for (const piece of piecesOf(text)) {
        if (!pieces.has(piece)) pieces.set(piece, { secret, spelling, piece });
      }
    }
  }
  return (shown) => {
    const found = new Map<string, Leak>();
    for (const piece of readingsOf(shown).flatMap(piecesOf)) {
      const leak = pieces.get(piece);
      if (leak !== undefined && !found.has(leak.secret)) found.set(leak.secret, leak);
    }
    return [...found.values()];
  };
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let end = PIECE_LENGTH; end <= text.length; end += 1) {
    pieces.push(text.slice(end - PIECE_LENGTH, end));
  }
  return pieces;
}

/** How programs write a secret. */
export function spellingsOf(secret: string | Uint8Array): Record<string, string> {
  const bytes = Buffer.from(secret);
  const spellings: Record<string, string> = { hex: bytes.toString('hex') };
  for (const before of [0, 1, 2]) {
    spellings[`base64 after ${before} bytes`] = alignedBase64(bytes, before);
  }
  if (typeof secret !== 'string') return spellings;
  const json = JSON.stringify(secret).slice(1, -1);
  return { text: secret, JSON: json, 'URL-encoded': encodeURIComponent(secret), ...spellings };
}

// Three bytes are four characters: with other bytes before it, a secret has two more spellings.
function alignedBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (before + bytes.length) % 3 === 0;
  // The characters at the edges hold bits of what stands beside it, too.
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}

const DECIMALS = /\d{1,3}(?:,\s*\d{1,3}){11,}/g;
const SPACED_HEX = /[0-9a-f]{2}(?: [0-9a-f]{2}){5,}/gi;

/** The texts that something can be read as. */
function readingsOf(shown: string | Uint8Array): string[] {
  const texts =
    typeof shown === 'string'
      ? [shown]
      : [Buffer.from(shown).toString('latin1'), Buffer.from(shown).toString('utf8')];
  return texts.flatMap((text) => [
    text,
    // An array of bytes, as inspect and JSON write it.
    ...Array.from(text.matchAll(DECIMALS), ([list]) =>
      Buffer.from(list.split(',').map(Number)).toString('latin1'),
    ),
    // A Buffer, as inspect writes it.
    ...Array.from(text.matchAll(SPACED_HEX), ([list]) => list.replaceAll(' ', '')),
  ]);
}
