import { existsSync } from 'node:fs';

/** The site's pages, by groups of its navigation, in the order of use. A page's title is its first heading. */
export const guides = {
  Start: [
    'docs/start.md',
    'docs/order-from-checkout-to-paid.md',
    'docs/move-an-existing-integration.md',
  ],
  'Create and handle': [
    'docs/create-payments.md',
    'docs/when-a-payment-is-declined.md',
    'docs/handle-callbacks.md',
    'docs/frameworks.md',
    'docs/queues.md',
  ],
  Stores: [
    'docs/choose-a-store.md',
    'docs/what-the-store-assumes.md',
    'docs/sqlite.md',
    'docs/postgres.md',
    'docs/mysql.md',
    'docs/orm.md',
  ],
  Test: [
    'docs/test-your-integration.md',
    'docs/work-with-the-mock.md',
    'docs/check-your-endpoint.md',
  ],
  'Go live': [
    'docs/go-live.md',
    'docs/watch-in-production.md',
    'docs/when-something-needs-a-person.md',
    'docs/staff-page.md',
  ],
  'Look up': [
    'docs/trust.md',
    'docs/options.md',
    'docs/errors.md',
    'docs/connections.md',
    'docs/signals.md',
    'docs/faults.md',
    'docs/open-points.md',
    'docs/control-interface.md',
    'docs/imports-and-versions.md',
    'SECURITY.md',
    'docs/evidence.md',
    'docs/speed.md',
    'docs/the-field.md',
  ],
  Project: ['CHANGELOG.md', 'CONTRIBUTING.md'],
};

for (const file of Object.values(guides).flat()) {
  if (existsSync(file)) continue;
  throw new Error(
    `scripts/docs/guides.mjs lists ${file}, which does not exist. Renamed or merged? Change it there, in llms.txt and in scripts/docs/landing.md.`,
  );
}

/** The group of a page, by its file. */
export function groupOf(file) {
  return Object.keys(guides).find((group) => guides[group].includes(file));
}
