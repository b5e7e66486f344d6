import { DefaultTheme, KindRouter, ReflectionKind } from 'typedoc';
import { fileOf } from './page.mjs';

const IMPORTS = ReflectionKind.pluralString(ReflectionKind.Module);

/** TypeDoc's own theme, with the navigation's guides in groups. */
export class SiteTheme extends DefaultTheme {
  buildNavigation(project) {
    const elements = new Map(super.buildNavigation(project).map((each) => [each.path, each]));
    return project.groups.map(({ title, children }) => ({
      text: title === IMPORTS ? 'Imports' : title,
      children: children.map((child) =>
        withoutNesting(elements.get(this.router.getFullUrl(child))),
      ),
    }));
  }
}

/**
 * A heading that opens a group is not also a link, since assistive technology can't distinguish the two. The
 * link is inside the group.
 */
function withoutNesting(element) {
  if (element.children === undefined) return element;
  const { text, path, kind, ...rest } = element;
  return { ...rest, text, children: [{ text: 'Overview', path, kind }, ...element.children] };
}

/** A guide's address is its file's, beside the Markdown, and stays when its title changes. */
export class SiteRouter extends KindRouter {
  getIdealBaseName(reflection) {
    if (!reflection.isDocument()) return super.getIdealBaseName(reflection);
    return fileOf(reflection).replace(/\.md$/, '');
  }
}
