// Controls, format characters (bidi overrides, zero-width spaces, tags), line and paragraph
// separators, and halves of surrogate pairs. Not the two joiners, which scripts and emoji need.
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text from outside as one line that can't drive the terminal: control characters, bidi overrides
 * and line breaks are written as escapes, such as `\x1b` and `\u202e`.
 */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? escapeCharacter(character));
}

/** JSON of a value, with the same characters escaped, so that it parses to the same value. */
export function plainJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(UNPRINTABLE, (character) =>
    // The line breaks of the indentation: inside a string JSON has escaped its own.
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) as number;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : escapeUnits(character);
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
