import { createHash } from 'node:crypto';

/** Names that a store may take for one another, or stumble over; each begins with `stem`. */
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
    // For a collation, another text.
    `${stem}\u00df`,
    `${stem}ss`,
    // In UTF-8 all the same.
    `${stem}\ud800`,
    `${stem}\udc00`,
    `${stem}\ufffd`,
    // What a store may keep in the place of a name it does not like.
    `sha256:${createHash('sha256').update(accented).digest('base64url')}`,
    `sha256:${stem}`,
    `${stem}${'x'.repeat(5000)}`,
    `${stem}${'x'.repeat(4999)}y`,
  ];
}
