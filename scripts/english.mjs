// Finds, in Markdown and in TypeScript, English that needs a second reading: words on a list, two colons in a
// paragraph, sentences of more than 35 words.

import ts from 'typescript';

const LONGEST_SENTENCE = 35;

/** What is not written, and what is written instead. */
const WORDS = new Map([
  ['nobody', 'no one is known to, or the passive'],
  ['whoever', 'a person who, someone who'],
  ['of its own', 'its own'],
  ['comes again', 'is repeated'],
  ['came', 'arrived, was received'],
  ['is told', 'learns, receives'],
  ['are told', 'learn, receive'],
  ['mend', 'fix, repair'],
  ['mends', 'fixes, repairs'],
  ['mended', 'fixed, repaired'],
  ['all the same', 'anyway, even so'],
  ['time window', 'tolerance'],
  ['raw bytes', 'raw body'],
  ['idempotence key', 'idempotency key'],
]);
const WORD_LIST = new RegExp(String.raw`\b(?:${[...WORDS.keys()].join('|')})\b`, 'gi');

// The name that a text defines is no sentence.
const DEFINITION = /(?<=^|[.;]\s)\s*code(?:, code)*:(?=\s)/g;

/** The faults in a page of Markdown, each with its line. */
export function findInMarkdown(text) {
  const blank = (part) => part.replaceAll(/[^\n]/g, ' ');
  const prose = text
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank);
  return paragraphsOf(prose).flatMap(findInParagraph);
}

/** The faults in the comments of a TypeScript file, and words on the list in its texts. */
export function findInCode(text, fileName = 'file.tsx') {
  const { comments, strings } = readCode(text, fileName);
  const inComments = comments.flatMap(({ line, prose }) =>
    paragraphsOf(prose).flatMap((paragraph) =>
      findInParagraph({ ...paragraph, line: line + paragraph.line - 1 }),
    ),
  );
  return [...inComments, ...strings.flatMap(findWords)];
}

/** Headings, list items, table cells and what lies between empty lines. */
function paragraphsOf(prose) {
  const found = [];
  let open;
  for (const [index, line] of prose.split('\n').entries()) {
    const text = line.trim();
    const startsItem = /^(?:(?:[-*]|\d+\.|@\w+) |`[^`]+`:)/.test(text);
    if (text === '' || text.startsWith('#') || text.startsWith('|') || startsItem) open = undefined;
    if (text === '') continue;
    if (text.startsWith('|')) {
      const cells = text.split(/(?<!\\)\|/);
      found.push(...cells.map((cell) => ({ line: index + 1, text: cell.replaceAll('; ', '. ') })));
      continue;
    }
    if (open === undefined) {
      open = { line: index + 1, text: '' };
      found.push(open);
    }
    open.text += `${text} `;
    if (text.startsWith('#')) open = undefined;
  }
  return found.map((paragraph) => ({ ...paragraph, text: plain(paragraph.text) }));
}

/** Without pictures, addresses, code and tags, which are not prose. */
function plain(text) {
  return text
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/``.*?``|`[^`]*`/g, 'code')
    .replaceAll(/\{@\w+ ([^}]*)\}/g, '$1')
    .replaceAll(/\b\w+:\/\/\S+/g, 'address')
    .replace(/^@default .*/, '')
    .replace(/^(?:[-*]|\d+\.|@\w+) /, '')
    .replaceAll('**', '');
}

function findInParagraph(paragraph) {
  const { line, text } = paragraph;
  const faults = findWords(paragraph);
  const colons = text.replaceAll(DEFINITION, '').match(/:(?=\s|$)/g)?.length ?? 0;
  if (colons > 1) faults.push({ line, fault: `${colons} colons in a paragraph: ${text.trim()}` });
  for (const sentence of text.split(/(?<=[.!?]["')]?)\s+/)) {
    const { length } = sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word));
    if (length > LONGEST_SENTENCE) {
      faults.push({ line, fault: `a sentence of ${length} words: ${sentence.trim()}` });
    }
  }
  return faults;
}

function findWords({ line, text }) {
  return [...text.matchAll(WORD_LIST)].map(([word]) => ({
    line,
    fault: `"${word}" (${WORDS.get(word.toLowerCase())}): ${text.trim()}`,
  }));
}

function readCode(text, fileName) {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, false);
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const strings = [];
  let rest = text;
  const visit = (node) => {
    if (isText(node)) {
      const start = node.getStart(source);
      strings.push({ line: lineAt(start), text: node.text });
      rest = rest.slice(0, start) + ' '.repeat(node.end - start) + rest.slice(node.end);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const comments = [...rest.matchAll(/\/\*[\s\S]*?\*\/|(?:\/\/.*\n?[ \t]*)+/g)].map((match) => ({
    line: lineAt(match.index),
    prose: match[0]
      .replaceAll(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?/gm, '')
      .replaceAll(/@example[\s\S]*?```[\s\S]*?```|```[\s\S]*?```/g, (part) =>
        part.replaceAll(/[^\n]/g, ''),
      )
      .replaceAll('*/', '')
      .replaceAll(/^biome-ignore.*$/gm, ''),
  }));
  return { comments, strings };
}

function isText(node) {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node) ||
    ts.isRegularExpressionLiteral(node) ||
    ts.isJsxText(node)
  );
}
