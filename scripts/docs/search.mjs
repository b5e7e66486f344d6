import { ReflectionKind } from 'typedoc';

const HEADING = /^#+ (.*)$/gm;

/**
 * Also indexes a guide by its headings and by the `keywords` of its front matter, which count more than the
 * words of its text.
 */
export function describeGuides(event) {
  Object.assign(event.searchFieldWeights, { headings: 5, keywords: 20 });
  event.searchFields = event.searchResults.map((reflection) => {
    if (!reflection.kindOf(ReflectionKind.Document)) return {};
    const text = reflection.content.map((part) => part.text).join('');
    return {
      headings: [...text.matchAll(HEADING)].map(([, heading]) => heading).join('\n'),
      keywords: reflection.frontmatter.keywords?.join('\n') ?? '',
    };
  });
}
