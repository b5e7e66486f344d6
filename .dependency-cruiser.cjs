// The layers of the house: imports point one way, and there are no cycles.
//   errors, protocol <- client | callback | inbox
//   callback, inbox <- receiver <- node | fetch | fastify | lambda
//   protocol <- mock-server <- msw | testing; callback <- testing
//   protocol <- cli, which uses the rest of the package by its name, as any other user does
const only = (room, ...allowed) => ({
  name: `${room}-imports-only-what-is-below`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [`^src/${room}/`, ...allowed.map((path) => `^src/${path}`)] },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-imports-of-an-index',
      comment: 'An index.ts only re-exports, for the outside.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '(^|/)index\\.ts$' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '(^|/)index\\.ts$' },
      to: {},
    },
    {
      name: 'errors-import-nothing',
      severity: 'error',
      from: { path: '^src/errors\\.ts$' },
      to: { path: '.' },
    },
    only('protocol', 'errors\\.ts$'),
    only('client', 'errors\\.ts$', 'protocol/'),
    only('callback', 'errors\\.ts$', 'protocol/'),
    only('inbox', 'errors\\.ts$', 'protocol/'),
    only('receiver', 'errors\\.ts$', 'protocol/', 'callback/', 'inbox/(inbox|memory)\\.ts$'),
    ...['node', 'fetch', 'fastify', 'lambda'].map((adapter) =>
      only(adapter, 'errors\\.ts$', 'protocol/', 'callback/', 'receiver/'),
    ),
    only('mock-server', 'errors\\.ts$', 'protocol/'),
    only('msw', 'errors\\.ts$', 'protocol/', 'mock-server/'),
    only('testing', 'errors\\.ts$', 'protocol/', 'callback/', 'mock-server/'),
    only('cli', 'protocol/'),
    {
      name: 'msw-is-reached-through-its-subpath',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/msw/' },
      to: { path: 'node_modules/msw/' },
    },
    {
      name: 'undici-is-the-clients-alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/client/' },
      to: { path: 'node_modules/undici/' },
    },
    {
      name: 'undici-is-loaded-at-the-first-call',
      comment: 'A static import of it would be paid by whoever imports the package.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules/undici/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'zod-stays-in-the-protocol',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/protocol/' },
      to: { path: 'node_modules/zod/' },
    },
    {
      name: 'inbox-and-adapters-know-no-package',
      comment: "The merchant's clients and frameworks are taken as they come, by their shape.",
      severity: 'error',
      from: { path: '^src/(inbox|receiver|node|fetch|fastify|lambda)/' },
      to: { path: 'node_modules/', pathNot: 'node_modules/@types/node/' },
    },
    {
      name: 'web-uses-no-node-module',
      comment:
        'What callback/web and fetch are made of runs without node: modules; types are free.',
      severity: 'error',
      from: {
        path: '^src/(callback/(web|body|headers|key|options|record|signature|signing-secret|timestamp)|fetch|inbox/(inbox|memory|production-warning)|receiver/(activity|body|causes|observation|once-a-minute|options|payment-work|process-once|receiver|rejection-log|reply|report|stale-report|verifier-source|web-body)|protocol|errors)',
      },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'fetch-reaches-no-node-module',
      severity: 'error',
      from: { path: '^src/(fetch|callback/web)/' },
      to: { path: '^src/(callback/verify|receiver/(callback-receiver|node-))', reachable: true },
    },
    {
      name: 'nothing-undeclared',
      comment: 'msw is an optional peer, reached through its own subpath.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'undetermined'],
        pathNot: 'node_modules/msw/',
      },
    },
    {
      name: 'nothing-unresolvable',
      comment: 'The package itself is there once it is built.',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true, pathNot: '^merchant-payments(/|$)' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.json', '.d.ts'] },
  },
};
