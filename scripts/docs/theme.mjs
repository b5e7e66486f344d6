import { DefaultTheme, ReflectionKind } from 'typedoc';

const IMPORTS = ReflectionKind.pluralString(ReflectionKind.Module);

/** TypeDoc's own theme, with the guides of the navigation in groups. */
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

/** What opens and closes is no link at the same time, which assistive technology can't tell apart: the link is below. */
function withoutNesting(element) {
  if (element.children === undefined) return element;
  const { text, path, kind, ...rest } = element;
  return { ...rest, text, children: [{ text: 'Overview', path, kind }, ...element.children] };
}
