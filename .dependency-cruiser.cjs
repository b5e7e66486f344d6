const engines = ['postgres', 'mysql', 'sqlite', 'redis'];

// The layers of the house: imports point one way, and there are no cycles.
//   errors, protocol <- client | callback; client <- store <- postgres | mysql | sqlite | redis
//   callback, store <- receiver <- node | fetch | fastify | lambda
//   protocol <- opentelemetry, which knows the types of what it tells of
//   protocol <- mock-server <- msw | testing; callback <- testing
//   protocol, the mock's control types and fault catalogue <- cli, which uses the rest of the package
//   by its name, as any other user does
const only = (room, ...allowed) => ({
  name: `${room}-imports-only-what-is-below`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [`^src/${room}/`, ...allowed.map((path) => `^src/${path}`)] },
});

// Within the mock server too, folders import what is above them in this list, so that none needs another
// that needs it.
const mockLayers = [
  'state/',
  'options\\.ts$',
  'faults/',
  'api/',
  'callbacks/',
  'state-file\\.ts$',
  '(mock-service|service)\\.ts$',
  'control/',
  'dashboard/[a-z-]+\\.ts$',
  '(server|index)\\.ts$',
].map((layer) => `^src/mock-server/${layer}`);
const inMockLayers = mockLayers.slice(0, -1).map((layer, index) => ({
  name: 'mock-server-layers',
  severity: 'error',
  from: { path: layer },
  to: { path: mockLayers.slice(index + 1) },
}));

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
      from: {
        path: '^src/',
        pathNot: '^src/(cli/|msw/)',
      },
      to: { path: '(^|/)index\\.ts$' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '(^|/)index\\.ts$|\\.d\\.ts$' },
      to: {},
    },
    {
      name: 'errors-import-nothing',
      severity: 'error',
      from: { path: '^src/error(s|-base|-codes)\\.ts$' },
      to: { path: '.', pathNot: '^src/error-(base|codes)\\.ts$' },
    },
    only('protocol', 'errors\\.ts$'),
    only('client', 'errors\\.ts$', 'protocol/'),
    only('callback', 'errors\\.ts$', 'protocol/'),
    only('store', 'errors\\.ts$', 'protocol/', 'client/'),
    {
      name: 'store-takes-a-client',
      comment: 'Types alone: the client comes as an option, and undici with it.',
      severity: 'error',
      from: { path: '^src/store/' },
      to: { path: '^src/client/', dependencyTypesNot: ['type-only'] },
    },
    ...engines.map((engine) => only(engine, 'errors\\.ts$', 'protocol/', 'store/')),
    only('receiver', 'errors\\.ts$', 'protocol/', 'callback/', 'store/[^/]*\\.ts$'),
    ...['node', 'fetch', 'fastify', 'lambda'].map((adapter) =>
      only(adapter, 'errors\\.ts$', 'protocol/', 'callback/', 'receiver/'),
    ),
    only(
      'opentelemetry',
      'errors\\.ts$',
      'protocol/',
      '(client|receiver)/observation\\.ts$',
      'store/(attention|callback-store)\\.ts$',
    ),
    {
      name: 'opentelemetry-listens',
      comment: 'Types alone: what it tells of, it learns from the channels.',
      severity: 'error',
      from: { path: '^src/opentelemetry/' },
      to: { path: '^src/(client|receiver|store)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'opentelemetry-is-reached-through-its-subpath',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/opentelemetry/' },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    // Of what tests an endpoint, the control interface sends the types, and loads the rest by the package's
    // name when it is first asked for.
    only('mock-server', 'errors\\.ts$', 'protocol/', 'testing/(index|diagnosis/diagnosis)\\.ts$'),
    ...inMockLayers,
    {
      name: 'mock-server-api-and-callbacks-are-apart',
      severity: 'error',
      from: { path: '^src/mock-server/callbacks/' },
      to: { path: '^src/mock-server/api/' },
    },
    {
      name: 'dashboard-knows-types-and-faults',
      comment: 'It runs in a browser.',
      severity: 'error',
      from: { path: '^src/mock-server/dashboard/app/' },
      to: {
        path: '^src/',
        pathNot:
          '^src/mock-server/(dashboard/app/|control/control-types|faults/fault-catalogue|callbacks/answer-hints)',
        dependencyTypesNot: ['type-only'],
      },
    },
    only('msw', 'errors\\.ts$', 'protocol/', 'mock-server/'),
    only('testing', 'errors\\.ts$', 'protocol/', 'callback/', 'mock-server/'),
    // The command line speaks the mock's control interface, whose format is private to the package, and
    // knows the same faults.
    only(
      'cli',
      'protocol/',
      'mock-server/(control/control-types|faults/fault-catalogue|callbacks/answer-hints)\\.ts$',
      '.*index\\.ts$',
    ),
    {
      name: 'msw-is-reached-through-its-subpath',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/msw/' },
      to: { path: 'node_modules/msw/' },
    },
    {
      name: 'undici-is-for-calls-and-callbacks',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(client|mock-server/callbacks)/' },
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
      name: 'zod-checks-what-comes-from-outside',
      comment:
        'The rest gets what was checked. The dashboard runs in a browser, and is served by its own mock.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(protocol/|client/|mock-server/(?!dashboard/)|cli/)' },
      to: { path: 'node_modules/zod/' },
    },
    {
      name: 'zod-is-zod-mini',
      comment: 'It is bundled: zod itself is three times as large, and may generate code.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules/zod/', pathNot: 'node_modules/zod/mini/' },
    },
    {
      name: 'stores-and-adapters-know-no-package',
      comment: "The merchant's clients and frameworks are taken as they come, by their shape.",
      severity: 'error',
      from: {
        path: `^src/(store|${engines.join('|')}|receiver|node|fetch|fastify|lambda)/`,
      },
      to: { path: 'node_modules/', pathNot: 'node_modules/@types/node/' },
    },
    {
      name: 'web-uses-no-node-module',
      comment:
        'What callback, fetch, redis and a store in memory are made of runs without node: modules; types are free.',
      severity: 'error',
      from: {
        path: '^src/(callback/|fetch|redis/|store/(lease/|[^/]*$)|receiver/(body|delivery|foreign-arguments|kept-failures|observation|options|receiver|reply|report|verifier-source)|protocol|error)',
        // Only the client and the mock have deadlines that fake timers must not stop.
        pathNot: '^src/protocol/timers',
      },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'fetch-reaches-no-node-module',
      severity: 'error',
      from: { path: '^src/(fetch|redis)/' },
      to: {
        path: '^src/(callback/verify\\.|receiver/(callback-receiver|node-)|store/sql/stored-forms|protocol/timers)',
        reachable: true,
      },
    },
    {
      name: 'nothing-undeclared',
      comment: 'Optional peers, each reached through its own subpath.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'undetermined'],
        pathNot: 'node_modules/(msw|@opentelemetry/api)/',
      },
    },
    {
      name: 'nothing-unresolvable',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.json', '.d.ts'] },
  },
};
