// Controls, line and paragraph separators, halves of surrogate pairs, and whatever is not visible: bidi overrides,
// zero-width spaces, fillers, tags. Not a joiner or a selector after a letter or a symbol that can need one, as in
// scripts and emoji.
const UNPRINTABLE =
  /(?!(?<=(?!\p{ASCII}|\p{Script=Latin}|\p{DI})[\p{L}\p{M}\p{S}]\ufe0f?)(?:\u200c|\u200d|\ufe0e|\ufe0f))[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Makes text from outside safe to print on one line of a terminal: what would control it, or mislead the reader, is
 * escaped, such as `\x1b` and `\u202e`.
 */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? escapeCharacter(character));
}

/** Makes text from outside one line of an error or a log: a space stands for controls and line breaks. */
export function logText(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
}

/** Writes JSON with the same characters escaped; it parses to the same value. */
export function plainJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(UNPRINTABLE, (character) =>
    // Only indentation has raw line breaks: JSON escapes those inside strings.
    character === '\n' ? character : escapeUnits(character),
  );
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Makes text safe for HTML and XML, within double quotes too. */
export const markupText = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character as keyof typeof ENTITIES]);

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) as number;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : escapeUnits(character);
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Removes a character that repeats at the end. `/0+$/` would look for the end again from each zero within the text. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
