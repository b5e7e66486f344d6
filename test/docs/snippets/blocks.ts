import { readFileSync } from 'node:fs';

/** A block of code in a page, with the name of its file if the line above gives one. */
export interface Block {
  readonly name: string | undefined;
  readonly language: string;
  readonly code: string;
}

export function readBlocks(page: string): Block[] {
  const blocks = readFileSync(page, 'utf8').matchAll(
    /(?:^[^\n]*`([\w/-]+(?:\.\w+)+)`[^`\n]*:\n\n?)?^```(\w+)\n(.*?)^```$/gms,
  );
  return [...blocks].map(([, name, language = '', code = '']) => ({ name, language, code }));
}
