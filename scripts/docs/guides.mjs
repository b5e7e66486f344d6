/** The site's documents, by groups of its navigation, in the order of use. */
export const guides = {
  Start: ['docs/order-from-checkout-to-paid.md', 'docs/choose-a-store.md'],
  'Create and handle': [
    'docs/create-payments.md',
    'docs/handle-callbacks.md',
    'docs/frameworks.md',
    'docs/queues.md',
    'docs/callbacks-from-a-queue.md',
  ],
  Stores: [
    'docs/sqlite.md',
    'docs/postgres.md',
    'docs/mysql.md',
    'docs/orm.md',
    'docs/how-a-store-works.md',
  ],
  Test: [
    'docs/test-your-integration.md',
    'docs/develop-against-the-mock.md',
    'docs/check-your-endpoint.md',
    'docs/containers-and-browsers.md',
    'docs/openapi.md',
  ],
  'Go live': [
    'docs/go-live.md',
    'docs/watch-in-production.md',
    'docs/when-something-needs-a-person.md',
  ],
  'Look up': [
    'docs/imports.md',
    'docs/errors.md',
    'docs/faults.md',
    'docs/open-points.md',
    'docs/security.md',
    'docs/versions.md',
    'docs/speed.md',
    'docs/evidence.md',
  ],
  Project: ['SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'RELEASING.md'],
};

/** The group of a document, by its file. */
export function groupOf(file) {
  return Object.keys(guides).find((group) => guides[group].includes(file));
}
