// Writes docs/options.md: every option of every public function, from the docstrings. `npm run docs` writes it, and a test
// compares it.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The interfaces, in the order of use, by the file that has them. */
const PARTS = {
  'The client': [
    ['PaymentClientOptions', 'src/client/options.ts', '`new PaymentClient(options)`'],
    [
      'RequestOptions',
      'src/client/options.ts',
      '`payments.create(input, options)`, `request`, `store.create`, `store.send`',
    ],
  ],
  Callbacks: [
    [
      'CallbackReceiverOptions',
      'src/receiver/options.ts',
      '`callbackHandler`, `createCallbackReceiver`, and those of `verifyCallback` but for `receivedAt`',
    ],
    [
      'CallbackPluginOptions',
      'src/fastify/callback-plugin.ts',
      '`callbackPlugin`, besides those of a handler',
    ],
    [
      'VerifyCallbackOptions',
      'src/callback/options.ts',
      '`verifyCallback`, `createCallbackVerifier`, and their `Async` forms',
    ],
  ],
  Stores: [
    ['StoreOptions', 'src/store/options.ts', 'every store but `redisStore`'],
    ['ServerStoreOptions', 'src/store/sql/server-options.ts', '`postgresStore`, `mysqlStore`'],
    [
      'SchemaOptions',
      'src/store/sql/server-options.ts',
      'the same, `postgresSchema`, `mysqlSchema`',
    ],
    ['SqliteStoreOptions', 'src/sqlite/sqlite-store.ts', '`sqliteStore`'],
    ['MemoryStoreOptions', 'src/store/memory.ts', '`memoryStore`'],
    ['RedisStoreOptions', 'src/redis/redis-store.ts', '`redisStore`'],
    ['AttentionOptions', 'src/store/attention.ts', '`store.attention(options)`'],
    ['RecoverOptions', 'src/store/payment-store.ts', '`store.recover(options)`'],
    [
      'RecoveryOptions',
      'src/store/payment-store.ts',
      '`store.startRecovery(options)`, besides `lookUp`',
    ],
  ],
  'The mock and tests': [
    ['MockServiceOptions', 'src/mock-server/options.ts', '`createMockService`, `startMockServer`'],
    ['MockServerOptions', 'src/mock-server/options.ts', '`startMockServer`'],
    [
      'PaymentServiceHandlersOptions',
      'src/msw/handlers.ts',
      '`paymentServiceHandlers`, besides those of `createMockService`',
    ],
    [
      'CheckCallbackEndpointOptions',
      'src/testing/endpoint-check/options.ts',
      '`checkCallbackEndpoint`',
    ],
    ['SignCallbackInput', 'src/testing/sign-callback.ts', '`signCallback`'],
    ['InstrumentationOptions', 'src/opentelemetry/instrument.ts', '`instrumentMerchantPayments`'],
  ],
};

const cell = (text) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();

/** A comment as one line of Markdown: links are names, and lists are sentences. */
const plain = (text = '') =>
  cell(
    text.replaceAll(
      /\{@link ([^}|\s]+)(?:\s*\|?\s*([^}]+))?\}/g,
      (_, name, label) => label ?? `\`${name}\``,
    ),
  );

function rowsOf(name, file) {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found = source.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  if (!found) throw new Error(`${file} has no interface ${name}: correct scripts/docs/options.mjs`);
  return found.members.map((member) => {
    const [comment] = ts.getJSDocCommentsAndTags(member);
    const defaults = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default');
    const text = plain(ts.getTextOfJSDocComment(comment?.comment));
    const type =
      member.type
        ?.getText(source)
        .replace(/\s*\|\s*undefined$/, '')
        .replace(/^\((.*)\)$/s, '$1')
        .replace(/^\|\s*/, '') ?? 'function';
    const isMethod = ts.isMethodSignature(member);
    const option = `\`${member.name.getText(source)}\`${member.questionToken ? '' : ' (required)'}`;
    const shown = isMethod ? 'function' : `\`${cell(type.replaceAll(/\/\*\*.*?\*\//gs, ''))}\``;
    const value = plain(ts.getTextOfJSDocComment(defaults?.comment));
    return `| ${option} | ${shown} | ${value || '–'} | ${text} |`;
  });
}

export function optionsPage() {
  const parts = Object.entries(PARTS).map(([title, all]) => {
    const tables = all.map(
      ([name, file, of]) =>
        `### ${name}\nOf ${of}.\n\n| option | type | default | what it does |\n| --- | --- | --- | --- |\n${rowsOf(name, file).join('\n')}\n`,
    );
    return `## ${title}\n\n${tables.join('\n')}`;
  });
  return `# All options\n\nWritten from the docstrings, which an editor shows too. All are there since 1.0.0. An option that is unknown, or out of its\nrange, throws an \`InvalidOptionError\`.\n\n${parts.join('\n')}`;
}

export const PAGE = 'docs/options.md';

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, optionsPage());
}
