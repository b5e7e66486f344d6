// Follows every link of the built site, through a local server, and looks for the headings that links name.
// Links to other sites are not fetched, so that the check needs no network: they are listed, and must use
// https. test/docs checks the links in the Markdown files themselves.

import { LinkChecker } from 'linkinator';

const SITE = process.argv[2] ?? 'site';

const outside = new Set();
const { links } = await new LinkChecker().check({
  path: '.',
  serverRoot: SITE,
  recurse: true,
  checkFragments: true,
  linksToSkip: async (link) => {
    const { protocol, hostname, href } = new URL(link);
    const isOutside = protocol !== 'http:' || hostname !== 'localhost';
    if (isOutside) outside.add(href);
    return isOutside;
  },
});

const broken = links
  .filter(({ state }) => state === 'BROKEN')
  .map(
    ({ url, parent, status }) => `${parent} links to ${url}, which is not there (status ${status})`,
  );
const insecure = [...outside]
  .filter((link) => !link.startsWith('https://'))
  .map((link) => `${link} is no https address; was it meant as a link?`);

console.log(`${links.length} addresses inside; outside, not fetched:`);
for (const link of [...outside].sort()) console.log(`  ${link}`);
// An empty folder would have no broken link.
if (links.length < 100) broken.push(`only ${links.length} addresses: is the site built?`);
for (const problem of [...broken, ...insecure]) console.error(problem);
process.exitCode = broken.length + insecure.length === 0 ? 0 : 1;
