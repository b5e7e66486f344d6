// The report of the public interface: what each subpath exports, and every declaration that these need. It makes
// changes visible in review.
//
// node scripts/check-api.mjs fails if the report differs; with --write it writes it

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { writeDeclarations } from './declarations.mjs';
import { moduleOf, subpaths } from './exports.mjs';

const REPORT = 'test/types/merchant-payments.api.md';
const LINE_WIDTH = 120;

// Within the project, where the declarations find the packages whose types they name.
const folder = mkdtempSync(path.resolve('dist-declarations-'));
try {
  writeDeclarations(folder);
  const report = makeReport();
  if (process.argv.includes('--write')) {
    writeFileSync(REPORT, report);
  } else if (readFileSync(REPORT, 'utf8') !== report) {
    console.error(
      `The public interface differs from ${REPORT}. If that is meant: node scripts/check-api.mjs --write`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}

function makeReport() {
  const entries = subpaths.map((subpath) => path.join(folder, `${moduleOf(subpath)}.d.ts`));
  const program = ts.createProgram(entries, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
  });
  const checker = program.getTypeChecker();
  const exported = entries.map((entry) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry))),
  );
  const { statements, imports } = everythingBehind(exported.flat(), checker);
  const modulesOf = new Map();
  for (const statement of statements) {
    const modules = modulesOf.get(nameOf(statement)) ?? new Set();
    modulesOf.set(nameOf(statement), modules.add(moduleNameOf(statement)));
  }

  /** `verifyCallback`, or `callbackHandler (node/callback-handler)` where modules have different ones. */
  const label = (name, statement) =>
    modulesOf.get(nameOf(statement)).size === 1 ? name : `${name} (${moduleNameOf(statement)})`;
  const sections = subpaths.map((subpath, index) => {
    const names = exported[index].map((symbol) => {
      const [statement] = statementsOf(originOf(symbol, checker));
      const renamed = symbol.name === nameOf(statement) ? '' : ` = ${nameOf(statement)}`;
      return label(symbol.name + renamed, statement);
    });
    const title = path.posix.join('merchant-payments', subpath);
    return `## ${title} (${names.length})\n\n${fillLines(names.sort())}\n`;
  });
  const declarations = statements
    .map((statement) => ({ key: label(nameOf(statement), statement), text: print(statement) }))
    .sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
    .map(({ key, text }) => (key.includes('(') ? `// ${key}\n${text}` : text));

  return `# What merchant-payments exports

Written by \`node scripts/check-api.mjs --write\`, and compared by \`npm run check\`.

${sections.join('\n')}
## Declarations

\`\`\`ts
${[...imports, ...declarations].join('\n')}
\`\`\`
`;
}

/**
 * The package's own statements that declare these symbols, and what those name, and so on, with what they import
 * from other packages.
 */
function everythingBehind(symbols, checker) {
  const statements = new Set();
  const imports = new Set();
  const reach = (symbol) => {
    for (const statement of statementsOf(originOf(symbol, checker))) {
      if (statements.has(statement)) continue;
      statements.add(statement);
      visit(statement);
    }
  };
  const visit = (node) => {
    const symbol = ts.isIdentifier(node) && checker.getSymbolAtLocation(node);
    if (symbol) {
      const from = symbol.declarations?.find(ts.isImportSpecifier)?.parent.parent.parent;
      const source = from?.moduleSpecifier.text ?? '.';
      if (!source.startsWith('.')) imports.add(`import { ${symbol.name} } from '${source}';`);
      reach(symbol);
    }
    ts.forEachChild(node, visit);
  };
  for (const symbol of symbols) reach(symbol);
  return { statements: [...statements], imports: [...imports].sort() };
}

function originOf(symbol, checker) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function statementsOf({ declarations = [] }) {
  return declarations
    .map((declaration) =>
      ts.findAncestor(declaration, ({ parent }) => parent && ts.isSourceFile(parent)),
    )
    .filter((statement) => statement?.getSourceFile().fileName.startsWith(folder));
}

function nameOf(statement) {
  return (statement.name ?? statement.declarationList.declarations[0].name).text;
}

function moduleNameOf(statement) {
  return path.relative(folder, statement.getSourceFile().fileName).replace(/\.d\.ts$/, '');
}

function print(statement) {
  const printer = ts.createPrinter({ removeComments: true });
  const text = printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
  return joinLines(text.replace(/^export /, ''));
}

/** Puts on one line what fits on it, the innermost brackets first. */
function joinLines(text) {
  const lines = text.split('\n');
  for (let start = lines.length - 1; start >= 0; start -= 1) {
    const [indent] = /^ */.exec(lines[start]);
    const size = lines.slice(start + 1).findIndex((line) => !line.startsWith(`${indent} `)) + 1;
    if (size < 2) continue;
    const all = lines.slice(start, start + size + 1).map((line) => line.trimStart());
    const one = indent + all.join(' ').replaceAll('[ ', '[').replaceAll(' ]', ']');
    if (one.length <= LINE_WIDTH) lines.splice(start, all.length, one);
    const inner = all.slice(1, -1).map((line) => line.replace(/,$/, ''));
    if (one.length > LINE_WIDTH && inner.every((line) => /^"[^"]+"$/.test(line)))
      lines.splice(start + 1, inner.length, ...fillLines(inner, `${indent}    `).split('\n'));
  }
  return lines.join('\n');
}

/** Writes names one after the other, in as few lines as they need. */
function fillLines(names, indent = '') {
  const filled = names.reduce((before, name) => {
    const width = before.length - before.lastIndexOf('\n') - 1;
    return `${before},${width + name.length + 3 > LINE_WIDTH ? `\n${indent}` : ' '}${name}`;
  });
  return indent + filled;
}
