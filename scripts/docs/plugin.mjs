// A TypeDoc plugin with what the site adds to TypeDoc's own theme: search.mjs, navigation in theme.mjs, and
// page.mjs.

import { Converter, ReflectionKind, Renderer } from 'typedoc';
import { groupOf } from './guides.mjs';
import { fileOf, finishPage, linksOfGuide } from './page.mjs';
import { describeGuides } from './search.mjs';
import { SiteTheme } from './theme.mjs';

// The files at the root of the repository have no front matter, which GitHub would show.
const TITLES = new Map([
  ['SECURITY', 'Security policy'],
  ['CHANGELOG', 'Changelog'],
  ['CONTRIBUTING', 'Contributing'],
]);

export function load(app) {
  app.renderer.defineTheme('site', SiteTheme);
  const nameAndGroup = ({ project }) => {
    for (const document of project.getReflectionsByKind(ReflectionKind.Document)) {
      document.name = TITLES.get(document.name) ?? document.name;
      document.frontmatter.group = groupOf(fileOf(document));
    }
  };
  // Before TypeDoc groups.
  app.converter.on(Converter.EVENT_RESOLVE_END, nameAndGroup, 1000);
  app.renderer.on(Renderer.EVENT_PREPARE_INDEX, describeGuides);
  app.renderer.on(Renderer.EVENT_END_PAGE, finishPage);
  app.renderer.hooks.on('content.end', linksOfGuide);
}
