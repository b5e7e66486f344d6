/** The site's documents, by groups of its navigation, in the order of use. */
export const guides = {
  Start: ['docs/order-from-checkout-to-paid.md'],
  'Create payments': ['docs/create-payments.md', 'docs/outbox.md', 'docs/outbox-model.md'],
  'Handle callbacks': [
    'docs/handle-callbacks.md',
    'docs/inboxes.md',
    'docs/queues.md',
    'docs/your-own-transaction.md',
  ],
  Test: ['docs/test-your-integration.md', 'docs/develop-against-the-mock.md', 'docs/openapi.md'],
  'Go live': ['docs/go-to-production.md', 'docs/watch-in-production.md', 'docs/on-call.md'],
  'Look up': [
    'docs/errors.md',
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
