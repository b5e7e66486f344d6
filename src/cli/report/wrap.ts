/** The widest line of a report, so that it fits any terminal and a mail. */
const WIDEST = 80;
const NARROWEST = 40;

/** How wide a report may be on a stream. */
export function reportWidth({ columns }: Pick<NodeJS.WriteStream, 'columns'>): number {
  return Math.max(NARROWEST, Math.min(columns ?? WIDEST, WIDEST));
}

/** Lines of at most `width` characters; a word that is longer is cut. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => cut(one, width))) {
    if (line !== '' && [...line].length + 1 + [...word].length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function cut(word: string, width: number): string[] {
  const characters = [...word];
  if (characters.length <= width) return [word];
  return Array.from({ length: Math.ceil(characters.length / width) }, (_, index) =>
    characters.slice(index * width, (index + 1) * width).join(''),
  );
}

interface Labelled {
  readonly label: string;
  readonly text: string;
  readonly width: number;
}

/** A label and a text beside it, whose further lines stand below its first. */
export function labelledLines({ label, text, width }: Labelled): string[] {
  const margin = ' '.repeat([...label].length);
  return wrapText(text, width - margin.length).map(
    (line, index) => `${index === 0 ? label : margin}${line}`,
  );
}
