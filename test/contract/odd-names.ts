import { createHash } from 'node:crypto';

/** Names that a store may confuse or not handle. Most begin with `stem`; all are unique to it. */
export function oddNames(stem: string): readonly string[] {
  const accented = `${stem}\u00e9`;
  return [
    stem,
    `${stem} `,
    `${stem}A`,
    `${stem}a`,
    `${stem}{a}`,
    `${stem}{b}`,
    `${stem}{}`,
    `${stem}\u0000`,
    `${stem}\u0000a`,
    `${stem}'; --`,
    `${stem}"`,
    `${stem}\\`,
    `${stem}%`,
    `${stem}_`,
    `${stem}\n`,
    `${stem}\u{1f4b8}`,
    accented,
    accented.normalize('NFD'),
    // Equal in some collations.
    `${stem}\u00df`,
    `${stem}ss`,
    // Encoded alike in UTF-8.
    `${stem}\ud800`,
    `${stem}\udc00`,
    `${stem}\ufffd`,
    // The digest that a store may keep instead of another name.
    `sha256:${createHash('sha256').update(accented).digest('base64url')}`,
    `sha256:${stem}`,
    `${stem}${'x'.repeat(5000)}`,
    `${stem}${'x'.repeat(4999)}y`,
  ];
}
