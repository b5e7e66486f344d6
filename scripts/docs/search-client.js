// Searches the site, in TypeDoc's dialog: which opens, closes and moves among the results.

import MiniSearch from 'minisearch';
import { synonyms } from './synonyms.mjs';

const RESULTS = 10;
const RESULTS_OF_A_PAGE = 3;

/** The words of a snippet before its first match, and in all. */
const [WORDS_BEFORE, WORDS] = [6, 28];

const WORD = /([\p{L}\p{N}]+)/u;
const ENDING = /(?:ations?|ings?|ed|es|e|s)$/;
const HUMP = /(?<=[a-z\d])(?=[A-Z])/;

/** A word as it was typed, and without its ending, so that "rotating" finds "rotate". */
function spellings(term) {
  const word = term.toLowerCase();
  return word.length > 4 ? [...new Set([word, word.replace(ENDING, '')])] : word;
}

function makeIndex(sections) {
  const index = new MiniSearch({
    idField: 'url',
    fields: ['page', 'heading', 'words', 'text', 'code'],
    storeFields: ['page', 'heading', 'text', 'url', 'weight'],
    // Also finds a symbol by the words of its name.
    extractField: (section, field) =>
      field === 'words' ? section.heading.split(HUMP).join(' ') : (section[field] ?? ''),
    searchOptions: {
      processTerm: spellings,
      boost: { page: 3, heading: 3, words: 4, code: 0.3 },
      boostDocument: (_id, _term, { weight }) => weight,
      prefix: true,
      fuzzy: (term) => term.length > 4 && 0.2,
    },
  });
  index.addAll(sections);
  return index;
}

const isNamed = ({ heading }, query) => /[A-Z]/.test(query) && heading === query;

/** The best sections for a query, a few of each page. */
function search(index, query) {
  const words = ` ${query.toLowerCase()} `;
  const meant = Object.entries(synonyms).filter(([theirs]) => words.includes(` ${theirs} `));
  const pages = new Map();
  return (
    index
      .search([query, ...meant.map(([, ours]) => ours)].join(' '))
      // What is spelled as in code is looked for as such.
      .sort((one, other) => isNamed(other, query) - isNamed(one, query))
      .filter(({ page }) => {
        pages.set(page, (pages.get(page) ?? 0) + 1);
        return pages.get(page) <= RESULTS_OF_A_PAGE;
      })
      .slice(0, RESULTS)
  );
}

/** An element with text in which the found words are marked. */
function marked(name, className, pieces, terms) {
  const element = document.createElement(name);
  element.className = className;
  for (const piece of pieces) {
    const isFound = terms.has(piece.toLowerCase());
    if (isFound)
      element.append(Object.assign(document.createElement('mark'), { textContent: piece }));
    else element.append(piece);
  }
  return element;
}

/** The words around the first that was found. */
function snippet(text, terms) {
  const pieces = text.split(WORD);
  const found = pieces.findIndex((piece) => terms.has(piece.toLowerCase()));
  // Every other piece is a word: from a word to a word.
  const begin = Math.max(1, found - 2 * WORDS_BEFORE);
  const end = begin + 2 * WORDS - 1;
  return [begin > 1 ? '…' : '', ...pieces.slice(begin, end), end < pieces.length ? '…' : ''];
}

/** An option of TypeDoc's list, and in it the link that TypeDoc clicks for the Enter key. */
function optionOf({ page, heading, text, url, terms: found }, at, base) {
  const terms = new Set(found);
  const name = marked('span', 'text', heading.split(WORD), terms);
  if (page !== heading) name.prepend(marked('span', 'parent', [page, ' › '], terms));
  name.append(marked('small', '', snippet(text, terms), terms));
  const link = document.createElement('a');
  link.dataset.url = url;
  link.append(name);
  // Only then: assistive technology can't reach a link within an option.
  for (const event of ['pointerenter', 'click']) {
    link.addEventListener(event, () => {
      link.href = base + url;
    });
  }
  const option = document.createElement('li');
  Object.assign(option, { id: `tsd-search:${at}`, role: 'option', ariaSelected: 'false' });
  option.append(link);
  return option;
}

function start() {
  const [input, results, status] = ['input', 'results', 'status'].map((part) =>
    document.getElementById(`tsd-search-${part}`),
  );
  const { base } = document.documentElement.dataset;
  let index;

  function show() {
    const query = input.value.trim();
    input.setAttribute('aria-activedescendant', '');
    const found = index && query ? search(index, query) : [];
    results.replaceChildren(...found.map((result, at) => optionOf(result, at, base)));
    status.textContent =
      index && query && found.length === 0 ? `Nothing found for “${query}”.` : '';
  }

  input.addEventListener('input', show);
  input.addEventListener(
    'focus',
    () => {
      const script = document.createElement('script');
      script.src = `${base}assets/sections.js`;
      script.onload = () => {
        index = makeIndex(window.siteSections);
        show();
      };
      script.onerror = () => {
        status.textContent = 'The search could not load assets/sections.js.';
      };
      document.head.append(script);
    },
    { once: true },
  );
}

if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start);
else start();
