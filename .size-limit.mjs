// What `npm run check:size` holds: each limit is 5% above what was measured last
// (docs/evidence.md).

const forNode = (config) => ({ ...config, platform: 'node', format: 'esm' });

export default [
  {
    name: 'the published tarball',
    // Packed by scripts/check-size.mjs.
    path: process.env.PACKED_TARBALL ?? 'a tarball that npm run check:size packs',
    disablePlugins: ['@size-limit/esbuild'],
    brotli: false,
    gzip: false,
    limit: '569700 B',
  },
  {
    name: 'merchant-payments/callback, minified and gzipped',
    path: 'dist/callback/index.js',
    gzip: true,
    modifyEsbuildConfig: forNode,
    limit: '11620 B',
  },
  {
    name: 'merchant-payments without undici, minified and gzipped',
    path: 'dist/index.js',
    ignore: ['undici'],
    gzip: true,
    modifyEsbuildConfig: forNode,
    limit: '32770 B',
  },
  {
    name: 'merchant-payments with undici, minified and gzipped',
    path: 'dist/index.js',
    gzip: true,
    modifyEsbuildConfig: forNode,
    limit: '209300 B',
  },
];
