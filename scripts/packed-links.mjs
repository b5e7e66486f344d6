import path from 'node:path';

const COMMENT_OR_CODE = /<!--.*?-->|^```.*?^```$|`[^`\n]*`/gms;
const LINK = /\]\((?![\w+.-]+:|#)([^)#\s]+)/g;

/**
 * Returns the relative links of packed Markdown files to files that are not packed, as `file: link`. `read`
 * returns the text of a file.
 */
export function findMissingLinks(files, read) {
  return linksOf(files, read)
    .filter(({ target }) => !files.includes(target))
    .map(({ file, link }) => `${file}: ${link}`);
}

/** Returns the packed files with this extension to which no packed Markdown file links. */
export function findUnlinked(extension, files, read) {
  const targets = new Set(linksOf(files, read).map(({ target }) => target));
  return files.filter((file) => file.endsWith(extension) && !targets.has(file));
}

function linksOf(files, read) {
  return files
    .filter((file) => file.endsWith('.md') || file === 'llms.txt')
    .flatMap((file) =>
      [...read(file).replaceAll(COMMENT_OR_CODE, '').matchAll(LINK)].map(([, link]) => ({
        file,
        link,
        target: path.posix.join(path.posix.dirname(file), link),
      })),
    );
}
