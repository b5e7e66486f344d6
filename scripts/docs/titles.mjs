// A plugin of TypeDoc. The files at the root of the repository have no front matter, which GitHub
// would show: their titles on the site stand here.

import { Converter, ReflectionKind } from 'typedoc';

const TITLES = new Map([
  ['SECURITY', 'Security policy'],
  ['CHANGELOG', 'Changelog'],
  ['CONTRIBUTING', 'Contributing'],
]);

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const document of project.getReflectionsByKind(ReflectionKind.Document)) {
      document.name = TITLES.get(document.name) ?? document.name;
    }
  });
}
