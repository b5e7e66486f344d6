// The report of the public interface: what each subpath exports, with all declarations. It makes changes
// visible in review.
//
// node scripts/check-api.mjs fails if the report differs node scripts/check-api.mjs --write writes it

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { bundleDeclarations } from './declarations.mjs';
import { moduleOf, subpaths } from './subpaths.mjs';

const REPORT = 'api/merchant-payments.api.md';

const files = await bundleDeclarations({
  entryFileNames: '[name]',
  chunkFileNames: 'declarations',
  // In one file, so that the report does not depend on what subpaths share.
  manualChunks: (id) => (/\/index\.d\.ts$/.test(id) ? undefined : 'declarations'),
});
const codeOf = (name) => files.find(({ fileName }) => fileName === name).code;

const sections = subpaths.map((subpath) => {
  const names = exportsOf(codeOf(moduleOf(subpath)));
  const title = path.posix.join('merchant-payments', subpath);
  return `## ${title} (${names.length})\n\n${names.map((name) => `- ${name}`).join('\n')}\n`;
});
const report = `# What merchant-payments exports

Written by \`node scripts/check-api.mjs --write\`, and compared by \`npm run check\`.

${sections.join('\n')}
## Declarations

\`\`\`ts
${declarationsOf(codeOf('declarations')).join('\n')}
\`\`\`
`;

if (process.argv.includes('--write')) {
  mkdirSync(path.dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, report);
} else if (readFileSync(REPORT, 'utf8') !== report) {
  console.error(
    `The public interface differs from ${REPORT}. If that is meant: node scripts/check-api.mjs --write`,
  );
  process.exitCode = 1;
}

function parse(code) {
  return ts.createSourceFile('report.d.ts', code, ts.ScriptTarget.Latest, true);
}

/** `verifyCallback`, or `verifyCallback (below: verifyCallback$1)`. */
function exportsOf(code) {
  return parse(code)
    .statements.filter(ts.isExportDeclaration)
    .flatMap(({ exportClause }) => exportClause.elements)
    .map(({ name, propertyName }) =>
      propertyName ? `${name.text} (below: ${propertyName.text})` : name.text,
    )
    .sort();
}

/** Without comments, by name: their order in the sources does not count. */
function declarationsOf(code) {
  const printer = ts.createPrinter({ removeComments: true });
  const file = parse(code);
  return file.statements
    .filter((statement) => !ts.isExportDeclaration(statement))
    .map((statement) => ({
      name: ts.isImportDeclaration(statement)
        ? ''
        : (statement.name ?? statement.declarationList.declarations[0].name).getText(),
      text: printer.printNode(ts.EmitHint.Unspecified, statement, file),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
    .map(({ text }) => text);
}
