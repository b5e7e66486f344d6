/** The meaning of a colour. A word beside it always says the same. */
export type Tone = 'good' | 'waiting' | 'bad' | 'info' | 'returned' | 'neutral';

interface Kind {
  readonly tone: Tone;
  readonly sign: string;
  readonly words: RegExp;
}

// The interface names only `paid`, so other statuses are recognised by the words that payment services use.
// The first match counts: "partially refunded" is money returned.
const kinds: readonly Kind[] = [
  { tone: 'returned', sign: '↩', words: /refund|revers|charge.?back|disput/i },
  { tone: 'bad', sign: '✕', words: /fail|declin|reject|refus|error|fraud|den(y|ied)/i },
  { tone: 'neutral', sign: '∅', words: /cancel|expire|void|abandon|abort|unpaid/i },
  { tone: 'waiting', sign: '◔', words: /pend|process|wait|review|progress|hold|held/i },
  { tone: 'good', sign: '✓', words: /paid|settle|captur|complet|succe|confirm/i },
  { tone: 'info', sign: '○', words: /creat|new|open|init|authori/i },
];

const OTHER = { tone: 'neutral', sign: '◇' } as const;

/** Returns the kind of a status, which can be any text: money received, returned, expected or lost. */
export function kindOfStatus(status: string): Omit<Kind, 'words'> {
  return kinds.find(({ words }) => words.test(status)) ?? OTHER;
}
