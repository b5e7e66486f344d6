// Fails if a regular expression of src takes more than linear time on some text, which could block a server.
//
// node scripts/check-patterns.mjs [file…]

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

// The backend in JavaScript: the others are programs for some platforms.
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('./node_modules/recheck/index.js');

const sources = readdirSync('src', { recursive: true })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => path.join('src', file));
const files = process.argv.length > 2 ? process.argv.slice(2) : sources;
const patterns = files.flatMap(patternsIn);
// By steps alone: by its own limits in milliseconds, linear patterns look slow on a busy machine.
const limits = {
  timeout: 300_000,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
};
const slow = patterns.filter(({ source, flags, at }) => {
  const { status, complexity, attack, error } = checkSync(source, flags, limits);
  if (status === 'safe') return false;
  const why = complexity ? `${complexity.summary}, on ${attack.pattern}` : error.kind;
  console.error(`${at}: /${source}/${flags} may take more than linear time (${why})`);
  return true;
});
if (slow.length > 0) process.exitCode = 1;
else console.log(`${patterns.length} regular expressions take linear time.`);

function patternsIn(file) {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    const at = `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) found.push({ ...partsOf(node), at });
    if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') {
      const [source, flags] = node.arguments;
      found.push({ source: textOf(source, tree), flags: flags?.text ?? '', at });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function partsOf({ text }) {
  const end = text.lastIndexOf('/');
  return { source: text.slice(1, end), flags: text.slice(end + 1) };
}

/** The text of an expression of constants. Any other part stands for a word: it is escaped, or a name. */
function textOf(node, tree) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(
      (span) => textOf(span.expression, tree) + span.literal.text,
    );
    return node.head.text + spans.join('');
  }
  if (ts.isBinaryExpression(node)) return textOf(node.left, tree) + textOf(node.right, tree);
  if (ts.isRegularExpressionLiteral(node)) return partsOf(node).source;
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source') {
    return textOf(node.expression, tree);
  }
  const constant = ts.isIdentifier(node) ? constantsOf(tree).get(node.text) : undefined;
  return constant === undefined ? 'word' : textOf(constant, tree);
}

function constantsOf(tree) {
  const declared = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations);
  return new Map(declared.map(({ name, initializer }) => [name.getText(), initializer]));
}
