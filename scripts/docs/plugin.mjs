// A TypeDoc plugin with what the site adds to TypeDoc's own theme: its first page, the guides' titles and groups,
// theme.mjs and page.mjs.

import { readFileSync } from 'node:fs';
import { Converter, ReflectionKind, Renderer } from 'typedoc';
import { groupOf } from './guides.mjs';
import { copyOfGuide, fileOf, finishPage, linksOfGuide, markdownOf } from './page.mjs';
import { SiteRouter, SiteTheme } from './theme.mjs';

const TITLE = /^# (.+)$/m;
const SAMPLE = /^```js\n.*?^```$/ms;
const PLACE_OF_SAMPLE = '<!-- the first sample of README.md -->';

export function load(app) {
  app.renderer.defineTheme('site', SiteTheme);
  app.renderer.defineRouter('site', SiteRouter);
  // Before TypeDoc groups.
  app.converter.on(Converter.EVENT_RESOLVE_END, prepareTexts, 1000);
  // pagefind has the index.
  app.renderer.on(Renderer.EVENT_PREPARE_INDEX, (event) => {
    event.searchResults = [];
  });
  app.renderer.on(Renderer.EVENT_END_PAGE, finishPage);
  app.renderer.hooks.on('content.begin', copyOfGuide);
  app.renderer.hooks.on('content.end', linksOfGuide);
}

function prepareTexts({ project }) {
  const [sample] = SAMPLE.exec(readFileSync('README.md', 'utf8')) ?? [];
  const place = project.readme.find(({ text }) => text.includes(PLACE_OF_SAMPLE));
  if (!sample || !place)
    throw new Error('README.md has no js sample, or landing.md no place for it.');
  place.text = place.text.replace(PLACE_OF_SAMPLE, () => sample);
  for (const document of project.getReflectionsByKind(ReflectionKind.Document)) {
    const file = fileOf(document);
    const [, title] = TITLE.exec(markdownOf(document)) ?? [];
    if (!title) throw new Error(`${file} has no title: a line such as "# Handle callbacks".`);
    document.name = title;
    document.frontmatter.group = groupOf(file);
  }
}
