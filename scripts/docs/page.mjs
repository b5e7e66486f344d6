// What each page of the site has besides its text.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { JSX, ReflectionKind } from 'typedoc';

const { description } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The description of each guide in llms.txt, by its file. */
const guideDescriptions = new Map(
  [...readFileSync('llms.txt', 'utf8').matchAll(/^- \[[^\]]+\]\(([^)#]+)\): (.+)$/gm)]
    .reverse() // the first line of a file describes all of it
    .map(([, file, text]) => [file, text.replaceAll('`', '')]),
);

/** The longest description that search engines show. */
const DESCRIPTION_LENGTH = 160;

/** The path of a document's file, as guides.mjs writes it. */
export function fileOf(document) {
  const file = document.project.files.getReflectionPath(document);
  return path.relative('.', file).split(path.sep).join('/');
}

/**
 * The address at which a file can be edited: below DOCS_EDIT_URL if set, otherwise below the repository in
 * package.json if it is on GitHub; undefined without either.
 */
export function editUrl(file, { given = process.env.DOCS_EDIT_URL, repository } = packageData()) {
  const github = /github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?$/.exec(repository?.url ?? '')?.[1];
  const base = given || (github && `https://github.com/${github}/edit/HEAD`);
  if (!base) return undefined;
  if (!URL.canParse(base) || new URL(base).protocol !== 'https:') {
    throw new Error(
      `DOCS_EDIT_URL must be the https address below which files are edited, such as https://github.com/owner/name/edit/main, but is ${JSON.stringify(base)}`,
    );
  }
  return `${base.replace(/\/$/, '')}/${file}`;
}

function packageData() {
  const { repository } = JSON.parse(readFileSync('package.json', 'utf8'));
  return { repository: typeof repository === 'string' ? { url: repository } : repository };
}

/**
 * Below a guide: links to edit it and to the guides before and after it. Below the landing page: where to
 * begin.
 */
export function linksOfGuide({ page: { model }, urlTo }) {
  const { documents } = model.project;
  const isLanding = model.isProject();
  if (!isLanding && !model.isDocument()) return undefined;
  const place = isLanding ? -1 : documents.indexOf(model);
  const link = (document, rel, text) =>
    document && JSX.createElement('a', { href: urlTo(document), rel }, `${text}: ${document.name}`);
  const edit = editUrl(isLanding ? 'README.md' : fileOf(model));
  return JSX.createElement(
    'nav',
    { class: 'site-steps', 'aria-label': 'Guides' },
    link(documents[place - 1], 'prev', 'Previous'),
    link(documents[place + 1], 'next', 'Next'),
    edit && JSX.createElement('a', { href: edit, class: 'site-edit' }, 'Edit this page'),
  );
}

// A picture that a comment hides: in README.md, since npm's page has no images of the package, and in guides where
// the package does not hold it.
const HIDDEN_PICTURE = /<!-- on the site: !\[([^\]]*)\]\(([^)]*)\) -->/g;

/**
 * Describes the page to search engines, shows its picture, says to assistive technology
 * where the text begins, and lets inline code break where a word ends.
 */
export function finishPage(page) {
  page.contents = page.contents
    .replace(
      /<meta name="description" content="[^"]*"\/>/,
      () => `<meta name="description" content="${escapeHtml(describe(page.model))}"/>`,
    )
    .replace('<div class="col-content">', '<div class="col-content" role="main">')
    .replace(
      '<div class="page-menu">',
      '<div class="page-menu" role="complementary" aria-label="On this page">',
    )
    .replaceAll(SECTION_HEAD, (head) =>
      head.replaceAll(PERMALINK, '').replaceAll(/<\/?a\b[^>]*>/g, ''),
    )
    .replace(SUMMARY_LINK, (link) => (isInHierarchy(page.model) ? link : ''))
    .replaceAll(HIDDEN_PICTURE, '<p><img src="$2" alt="$1"/></p>')
    .replaceAll(INLINE_CODE, (code) => code.replaceAll(WORD_END, '$&<wbr/>'));
  page.contents = withoutLeaps(page.contents);
}

// TypeDoc links every page with a hierarchy, but leaves out of the summary what extends only unnamed types.
const SUMMARY_LINK = / \(<a href="[^"]*hierarchy\.html#[^"]*">View Summary<\/a>\)/;

function isInHierarchy({
  extendedBy = [],
  implementedBy = [],
  extendedTypes = [],
  implementedTypes = [],
}) {
  const related = [...extendedBy, ...implementedBy, ...extendedTypes, ...implementedTypes];
  return related.some(({ reflection }) => reflection?.kindOf(ReflectionKind.ClassOrInterface));
}

// What opens and closes a section has links in it, which assistive technology can't reach there.
const SECTION_HEAD = /<summary [^>]*data-key="section-.*?<\/summary>/gs;
const PERMALINK = /<a [^>]*class="tsd-anchor-icon".*?<\/a>/gs;

/** No heading is announced more than one level below the one before it. */
function withoutLeaps(html) {
  let before = 0;
  return html.replaceAll(/<h([1-6])(?=[ >])/g, (heading, number) => {
    const level = Math.min(Number(number), before + 1);
    before = level;
    return level === Number(number) ? heading : `${heading} aria-level="${level}"`;
  });
}

const INLINE_CODE = /(?<!<pre>)<code>[^<]*<\/code>/g;
const WORD_END = /(?<=\w)(?:[/.:,=?(]|&amp;)(?=\w)/g;

function describe(model) {
  if (model?.isDocument?.())
    return shorten(guideDescriptions.get(fileOf(model)) ?? `${model.name} of merchant-payments`);
  if (model === undefined || !model.isDeclaration()) return description;
  const comment = model.comment ?? model.signatures?.[0]?.comment;
  const text = comment?.summary.map((part) => part.text.replaceAll('`', '')).join('') ?? '';
  return shorten(text === '' ? `${model.name} in ${model.parent.getFullName()}` : text);
}

function shorten(text) {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= DESCRIPTION_LENGTH) return line;
  return `${line.slice(0, line.lastIndexOf(' ', DESCRIPTION_LENGTH - 1))}…`;
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text) => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]);
