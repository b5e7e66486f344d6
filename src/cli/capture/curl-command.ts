import { UsageError } from '../command.js';
import type { CapturedBody, CapturedCallback, HeaderPair } from './captured-callback.js';
import { type CurlMeaning, curlLongOptions, curlShortOptions } from './curl-options.js';
import { splitShellWords } from './shell-words.js';

/** Whether a text looks like a curl command, as one or the other program copies it. */
export function isCurlCommand(text: string): boolean {
  return /^\s*(?:\$ +)?curl(?:\.exe)?[\s^`]/i.test(text);
}

/**
 * Reads a curl command for bash: its headers and its body. No shell runs, and no file is read.
 *
 * @throws {UsageError} for what is no such command, or has an option that is not understood
 */
export function parseCurlCommand(source: Buffer): CapturedCallback {
  const text = source.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  refuseOtherShells(text);
  const [program, ...words] = splitShellWords(text.trim().replace(/^\$ +/, ''));
  if (program === undefined || !/^(?:.*[\\/])?curl(?:\.exe)?$/i.test(program)) {
    throw new UsageError('a curl command must begin with curl');
  }
  const request: CurlRequest = { headers: [], data: [], separator: '&' };
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    for (const { meaning, name, value } of readOption(word, queue)) {
      apply(request, { meaning, name, value });
    }
  }
  return { headers: request.headers, body: readBody(request), notes: [] };
}

// Both other forms of "Copy as cURL", which quote in ways that bash's rules would misread.
function refuseOtherShells(text: string): void {
  if (/^\s*curl(?:\.exe)?\s+\^"|^[^\n]*\^\r?\n/i.test(text)) {
    throw new UsageError(
      'this is a curl command for Windows cmd, with ^ as its escape: copy it as cURL (bash), or give --http-file or --headers-file and --body-file',
    );
  }
  if (/^\s*(?:\$session\b|Invoke-(?:WebRequest|RestMethod)\b)|^[^\n]*`\r?\n/i.test(text)) {
    throw new UsageError(
      'this is a command for PowerShell: copy it as cURL (bash), or give --http-file or --headers-file and --body-file',
    );
  }
}

interface CurlRequest {
  readonly headers: HeaderPair[];
  readonly data: string[];
  /** What curl joins several pieces of data with. */
  separator: string;
  /** The option that named a file. */
  fileOption?: string;
}

interface CurlOption {
  readonly meaning: CurlMeaning;
  /** As written: `--data-binary`. */
  readonly name: string;
  readonly value: string;
}

/** The options of one word; their values are taken from the queue. */
function readOption(word: string, queue: string[]): CurlOption[] {
  if (!word.startsWith('-') || word === '-') return [];
  if (!word.startsWith('--')) return readShortOptions(word.slice(1), queue);
  const meaning = curlLongOptions.get(word.slice(2));
  if (meaning === undefined) throw unknownOption(word);
  return [{ meaning, name: word, value: takesValue(meaning) ? takeValue(word, queue) : '' }];
}

function readShortOptions(letters: string, queue: string[]): CurlOption[] {
  const options: CurlOption[] = [];
  for (let index = 0; index < letters.length; index += 1) {
    const name = `-${letters.charAt(index)}`;
    const meaning = curlShortOptions.get(letters.charAt(index));
    if (meaning === undefined) throw unknownOption(name);
    if (!takesValue(meaning)) {
      options.push({ meaning, name, value: '' });
      continue;
    }
    // What is left of the word is the value: -XPOST.
    const attached = letters.slice(index + 1);
    return [
      ...options,
      { meaning, name, value: attached === '' ? takeValue(name, queue) : attached },
    ];
  }
  return options;
}

const takesValue = (meaning: CurlMeaning): boolean =>
  meaning !== 'skip' && meaning !== 'unreadable';

function takeValue(name: string, queue: string[]): string {
  const value = queue.shift();
  if (value === undefined)
    throw new UsageError(`the curl command ends after ${name}: copy it whole`);
  return value;
}

function unknownOption(name: string): UsageError {
  const shown = /^--?[\w.-]{1,30}$/.test(name) ? name : 'an option';
  return new UsageError(
    `the curl command has ${shown}, which is not understood here: leave it out, or give --headers-file and --body-file`,
  );
}

function apply(request: CurlRequest, { meaning, name, value }: CurlOption): void {
  if (meaning === 'unreadable') {
    throw new UsageError(
      `the curl command has ${name}, which sends no body as it is written: give --headers-file and --body-file`,
    );
  }
  if (meaning === 'header') addHeader(request, value);
  if (meaning === 'raw-data') request.data.push(value);
  if (meaning !== 'data' && meaning !== 'json') return;
  // Only what was pasted is read: a pasted command must not send for files of this machine.
  if (value.startsWith('@')) request.fileOption = name;
  else request.data.push(value);
  if (meaning === 'json') request.separator = '';
}

function addHeader({ headers }: CurlRequest, text: string): void {
  const [, name = '', mark = '', value = ''] = /^([^:;]*)([:;]?)(.*)$/s.exec(text) ?? [];
  if (name.startsWith('@')) {
    throw new UsageError('the curl command reads headers from a file: give it as --headers-file');
  }
  if (mark === ';') headers.push([name.trim(), '']);
  // `Name:` takes a header of curl's own away.
  else if (value.trim() !== '') headers.push([name.trim(), fromBytes(value.trim())]);
}

const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

function readBody({ data, separator, fileOption }: CurlRequest): CapturedBody {
  if (fileOption !== undefined) {
    return {
      kind: 'none',
      remedy: `the curl command takes its body from a file, by ${fileOption} @…, which is not read here: give the file as --body-file`,
    };
  }
  if (data.length === 0) {
    return {
      kind: 'none',
      remedy: 'the curl command holds no body: copy it whole, or give the body as --body-file',
    };
  }
  return { kind: 'bytes', bytes: Buffer.from(data.join(separator), 'latin1') };
}
