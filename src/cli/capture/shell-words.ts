import { UsageError } from '../command.js';

// Words are strings of bytes (latin1), so that a body that is not UTF-8 stays what it is: every
// character that means something to a shell is ASCII.

/**
 * The words of one simple command, split as bash does it: `'…'`, `"…"`, `$'…'`, backslashes and
 * continued lines. Nothing is expanded or run: what a shell would replace or run is refused.
 *
 * @throws {UsageError} for expansions, pipes, redirections, a second command, an open quote
 */
export function splitShellWords(source: string): string[] {
  const reader = new ShellReader(source);
  const words: string[] = [];
  for (let word = reader.nextWord(); word !== undefined; word = reader.nextWord()) words.push(word);
  return words;
}

const REDIRECTIONS = /[|&;<>()]/;

class ShellReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  nextWord(): string | undefined {
    this.#skipSpace();
    if (this.#at >= this.#source.length) return undefined;
    let word = '';
    while (this.#at < this.#source.length && !/[ \t\r\n]/.test(this.#peek())) word += this.#piece();
    return word;
  }

  #peek(ahead = 0): string {
    return this.#source.charAt(this.#at + ahead);
  }

  #skipSpace(): void {
    for (;;) {
      // A comment too, which begins where a word would.
      const length = /^(?:[ \t]|\\\r?\n)*(?:#[^\r\n]*)?/.exec(this.#rest())?.[0].length ?? 0;
      this.#at += length;
      if (!/[\r\n]/.test(this.#peek())) return;
      if (this.#rest().trim() !== '') {
        throw new UsageError(
          'the curl command ends at a line break, but more follows: give one command, its lines joined by a backslash at the end of each',
        );
      }
      this.#at = this.#source.length;
    }
  }

  #rest(): string {
    return this.#source.slice(this.#at);
  }

  #piece(): string {
    const character = this.#peek();
    if (character === "'") return this.#upTo("'", this.#at + 1);
    if (character === '"') return this.#doubleQuoted();
    if (character === '$' && this.#peek(1) === "'") return this.#ansiQuoted();
    if (character === '\\') return this.#escaped();
    assertPlain(character);
    this.#at += 1;
    return character;
  }

  /** The text up to a quote, none of which means anything. */
  #upTo(quote: string, start: number): string {
    const end = this.#source.indexOf(quote, start);
    if (end < 0) throw openQuote();
    this.#at = end + 1;
    return this.#source.slice(start, end);
  }

  #escaped(): string {
    const lineBreak = /^\\\r?\n/.exec(this.#source.slice(this.#at, this.#at + 3))?.[0];
    this.#at += lineBreak?.length ?? 2;
    return lineBreak === undefined ? this.#source.charAt(this.#at - 1) : '';
  }

  #doubleQuoted(): string {
    let text = '';
    this.#at += 1;
    while (this.#peek() !== '"') {
      const character = this.#peek();
      if (character === '') throw openQuote();
      if (character === '\\' && /[\\"$`\r\n]/.test(this.#peek(1))) {
        text += this.#escaped();
        continue;
      }
      if (character === '$' || character === '`') throw expansion(character);
      text += character;
      this.#at += 1;
    }
    this.#at += 1;
    return text;
  }

  #ansiQuoted(): string {
    const start = this.#at + 2;
    // No regular expression: a long text would exhaust its stack.
    let end = start;
    while (this.#source.charAt(end) !== "'") {
      if (end >= this.#source.length) throw openQuote();
      end += this.#source.charAt(end) === '\\' ? 2 : 1;
    }
    this.#at = end + 1;
    return decodeAnsi(this.#source.slice(start, end));
  }
}

function assertPlain(character: string): void {
  if (character === '$' || character === '`') throw expansion(character);
  if (REDIRECTIONS.test(character)) {
    throw new UsageError(
      `the curl command holds an unquoted ${character}: give the one command alone, and put quotes around its URL`,
    );
  }
}

function expansion(character: string): UsageError {
  return new UsageError(
    `the curl command holds a ${character} that a shell would replace: nothing is run or replaced here, so write the text itself, or quote it with '…'`,
  );
}

function openQuote(): UsageError {
  return new UsageError('the curl command ends within a quote: copy it whole');
}

const ANSI: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

// A pair of surrogates is one character: browsers write \ud83d\ude00 for what bash spells \U1f600.
const ANSI_ESCAPE =
  /\\(?:u(?<high>[dD][89abAB][\da-fA-F]{2})\\u(?<low>[dD][c-fC-F][\da-fA-F]{2})|u(?<unit>[\da-fA-F]{1,4})|U(?<wide>[\da-fA-F]{1,8})|x(?<byte>[\da-fA-F]{1,2})|(?<octal>[0-7]{1,3})|c(?<control>.)|(?<other>.))/gs;

type AnsiEscape = Readonly<Record<string, string | undefined>>;

/** The text of `$'…'`. */
function decodeAnsi(text: string): string {
  return text.replace(ANSI_ESCAPE, (...found: unknown[]) => {
    const escaped = found.at(-1) as AnsiEscape;
    const decoded = decodeCharacter(escaped) ?? decodeByte(escaped) ?? decodeOther(escaped);
    if (decoded !== '\0') return decoded;
    throw new UsageError('the curl command holds an escape of NUL, which ends a text in a shell');
  });
}

function decodeCharacter({ high, low, unit, wide }: AnsiEscape): string | undefined {
  if (high !== undefined && low !== undefined) {
    return utf8(String.fromCharCode(hex(high), hex(low)));
  }
  if (unit !== undefined) return utf8(String.fromCharCode(hex(unit)));
  return wide === undefined ? undefined : utf8(codePoint(hex(wide)));
}

function decodeByte({ byte, octal, control }: AnsiEscape): string | undefined {
  if (byte !== undefined) return String.fromCharCode(hex(byte));
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
  return control === undefined ? undefined : String.fromCharCode(control.charCodeAt(0) & 0x1f);
}

function decodeOther({ other = '' }: AnsiEscape): string {
  return ANSI[other] ?? (/[\\'"?]/.test(other) ? other : `\\${other}`);
}

const hex = (digits: string): number => Number.parseInt(digits, 16);

function codePoint(value: number): string {
  if (value <= 0x10ffff) return String.fromCodePoint(value);
  throw new UsageError('the curl command holds a \\U escape of no character');
}

function utf8(text: string): string {
  if (text.isWellFormed()) return Buffer.from(text).toString('latin1');
  throw new UsageError('the curl command holds half of a surrogate pair, which is no character');
}
