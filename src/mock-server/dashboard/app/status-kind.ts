/** The meaning of a colour, which is never without a word that says the same. */
export type Tone = 'good' | 'waiting' | 'bad' | 'info' | 'returned' | 'neutral';

interface Kind {
  readonly tone: Tone;
  readonly sign: string;
  readonly words: RegExp;
}

// The interface names `paid` alone, so the others go by the words that payment services use. The first
// that fits counts: "partially refunded" is money that went back.
const kinds: readonly Kind[] = [
  { tone: 'returned', sign: '↩', words: /refund|revers|charge.?back|disput/i },
  { tone: 'bad', sign: '✕', words: /fail|declin|reject|refus|error|fraud|den(y|ied)/i },
  { tone: 'neutral', sign: '∅', words: /cancel|expire|void|abandon|abort|unpaid/i },
  { tone: 'waiting', sign: '◔', words: /pend|process|wait|review|progress|hold|held/i },
  { tone: 'good', sign: '✓', words: /paid|settle|captur|complet|succe|confirm/i },
  { tone: 'info', sign: '○', words: /creat|new|open|init|authori/i },
];

const OTHER = { tone: 'neutral', sign: '◇' } as const;

/** The kind of a status, which can be any text: money that came, went back, is awaited, or never comes. */
export function kindOfStatus(status: string): Omit<Kind, 'words'> {
  return kinds.find(({ words }) => words.test(status)) ?? OTHER;
}
