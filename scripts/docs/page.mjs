// What each page of the site has besides its text.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { JSX } from 'typedoc';

const { description } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The longest description that search engines show. */
const DESCRIPTION_LENGTH = 160;

/** The path of a guide's file, as guides.mjs writes it. */
export function fileOf(document) {
  const file = document.project.files.getReflectionPath(document);
  return path.relative('.', file).split(path.sep).join('/');
}

/** A guide's text, as it was written. */
export const markdownOf = (document) => document.content.map(({ text }) => text).join('');

/** Above a guide: its text, to copy. */
export function copyOfGuide({ page: { model } }) {
  if (!model.isDocument()) return undefined;
  return JSX.createElement(
    'div',
    { class: 'site-copy', hidden: true },
    JSX.createElement('button', { type: 'button' }, 'Copy as Markdown'),
    JSX.createElement('template', null, markdownOf(model)),
  );
}

/** Below a guide: the guides before and after it, and where it can be edited, below DOCS_EDIT_URL. */
export function linksOfGuide({ page: { model }, urlTo }) {
  if (!model.isDocument()) return undefined;
  const { documents } = model.project;
  const place = documents.indexOf(model);
  const link = (document, rel, text) =>
    document && JSX.createElement('a', { href: urlTo(document), rel }, `${text}: ${document.name}`);
  const { DOCS_EDIT_URL: editUrl } = process.env;
  return JSX.createElement(
    'nav',
    { class: 'site-steps', 'aria-label': 'Guides' },
    link(documents[place - 1], 'prev', 'Previous'),
    link(documents[place + 1], 'next', 'Next'),
    editUrl && JSX.createElement('a', { href: `${editUrl}/${fileOf(model)}` }, 'Edit this page'),
  );
}

/** What TypeDoc's Markdown lacks. */
export function prepareMarkdown(parser) {
  parser.core.ruler.push('code-in-headings', nameCodeInHeadings);
  const { highlight } = parser.options;
  // Shiki gives up on a line after half a second and leaves the rest of the line in the colour that it had: on a busy
  // machine that is the first line of a language, when its grammar is compiled. Within a sample no time passes.
  parser.options.highlight = (...sample) => {
    const { now } = Date;
    const start = now();
    Date.now = () => start;
    try {
      return highlight(...sample);
    } finally {
      Date.now = now;
    }
  };
}

/** Code in a heading is part of its name and its address, as it is on GitHub: TypeDoc counts texts only. */
function nameCodeInHeadings({ tokens, Token }) {
  const token = (type, content) => Object.assign(new Token(type, '', 0), { content });
  const [open, close] = ['<code>', '</code>'].map((tag) => token('html_inline', tag));
  for (const [index, { type }] of tokens.entries()) {
    if (type !== 'heading_open') continue;
    const heading = tokens[index + 1];
    heading.children = heading.children.flatMap((child) =>
      child.type === 'code_inline' ? [open, token('text', child.content), close] : child,
    );
  }
}

// The words for which a reader searches who does not know ours.
const SEARCH_WORDS = /<!-- Searched for as: (.*?) -->/g;

// A picture that a comment hides, where npm's page or the package does not have it.
const HIDDEN_PICTURE = /<!-- on the site: !\[([^\]]*)\]\(([^)]*)\) -->/g;

/**
 * Describes the page to search engines, shows its hidden pictures, says to assistive technology where the text
 * begins, and lets inline code break where a word ends.
 */
export function finishPage(page) {
  page.contents = withoutLeaps(page.contents)
    .replace(/(?<=<meta name="description" content=")[^"]*/, () => escapeHtml(describe(page)))
    .replace(
      '<div class="col-content">',
      () => `<div class="col-content" role="main" ${indexed(page)}>`,
    )
    .replace(OWN_SEARCH, (own) => `<div hidden>${own}</div>${SEARCH}`)
    .replace('</head>', () => `${searchFiles(page)}</head>`)
    .replace('<div id="tsd-toolbar-links">', (place) => `${place}${linksOfHeader(page)}`)
    .replace(
      '<div class="page-menu">',
      '<div class="page-menu" role="complementary" aria-label="On this page">',
    )
    .replaceAll(SECTION_HEAD, (head) =>
      head.replaceAll(PERMALINK, '').replaceAll(/<\/?a\b[^>]*>/g, ''),
    )
    .replaceAll(SEARCH_WORDS, '<p hidden data-pagefind-weight="10">$1</p>')
    .replaceAll(HIDDEN_PICTURE, '<p><img src="$2" alt="$1"/></p>')
    .replaceAll(INLINE_CODE, (code) => code.replaceAll(WORD_END, '$&<wbr/>'));
}

// pagefind's search in place of TypeDoc's, whose script stops if it does not find its own.
const OWN_SEARCH = /<button id="tsd-search-trigger".*?<\/dialog>/s;
const SEARCH =
  '<pagefind-modal-trigger shortcut="/" compact></pagefind-modal-trigger><pagefind-modal></pagefind-modal>';

/** The way from a page to the site's root. */
const rootOf = ({ url }) => '../'.repeat(url.split('/').length - 1);

const HEADER = {
  Start: 'docs/start.html',
  Frameworks: 'docs/frameworks.html',
  Stores: 'docs/choose-a-store.html',
  Options: 'docs/options.html',
  Errors: 'docs/errors.html',
};

const linksOfHeader = (page) =>
  Object.entries(HEADER)
    .map(([name, file]) => `<a href="${rootOf(page)}${file}">${name}</a>`)
    .join('');

function searchFiles(page) {
  const folder = `${rootOf(page)}pagefind`;
  return (
    `<link rel="stylesheet" href="${folder}/pagefind-component-ui.css"/>` +
    `<script defer src="${folder}/pagefind-component-ui.js"></script>`
  );
}

/** How much a page counts in the search: those that say how something is done before those that list. */
const WEIGHTS = { 'Look up': 0.7, Project: 0.3 };
const WEIGHT_OF_SYMBOL = 0.1;

function indexed({ model }) {
  const weight = model.isDocument() ? (WEIGHTS[model.frontmatter.group] ?? 1) : WEIGHT_OF_SYMBOL;
  return `data-pagefind-body data-pagefind-weight="${weight}"`;
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

/** A guide's first paragraph, a symbol's summary, or what the package is. */
function describe({ model, contents }) {
  if (model.isProject()) return description;
  const [, paragraph = ''] = /<\/h1>\s*<p>(.*?)<\/p>/s.exec(contents) ?? [];
  const text = model.isDocument() ? plainText(paragraph) : summaryOf(model);
  const line = text || `${model.name} of ${model.parent.name}`;
  if (line.length <= DESCRIPTION_LENGTH) return line;
  return `${line.slice(0, line.lastIndexOf(' ', DESCRIPTION_LENGTH - 1))}…`;
}

/** The first words of a symbol's documentation. */
export function summaryOf(symbol) {
  const comment = symbol.comment ?? symbol.signatures?.[0]?.comment;
  const text = (comment?.summary ?? []).map((part) => part.text).join('');
  return text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text) => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]);

const CHARACTERS = new Map(Object.entries({ ...ENTITIES, "'": '&#39;' }).map(([a, b]) => [b, a]));

/** What a reader of rendered Markdown sees. */
export const plainText = (html) =>
  html
    .replaceAll(/<(?:br|\/(?:p|li|td|th|pre|h\d))\b[^>]*>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&[#\w]+;/g, (entity) => CHARACTERS.get(entity) ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();
