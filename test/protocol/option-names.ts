import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const OPTIONS =
  '(?:Options|Input|Request|Match|Fault|Clock|Context|Change|Policy|Settings|Schema\\w*|Headers|Count|Store|Attention|Resolution|Logger|Id|Result)';
const FIELD = /^ {2,8}(?:readonly )?(?:'([^']+)'|(\w+))\??(?:<[^>]*>)?[:(]/gm;

// The parts that have no public functions, or only commands.
const OTHERS = /^(?:cli[\\/]|openapi|mock-server[\\/]dashboard)/;

/**
 * The fields of what a caller passes to a public function: those of every exported interface and type with such a name.
 * A new option is among them as soon as it has a type. With a part, those that files with such a path declare.
 */
export const listOptionNames = (part = /^/): readonly string[] =>
  listFields(`export [a-z]+ \\w*${OPTIONS}`, part);

/** The fields of every interface and object type of the package, exported or not. */
export const listAllNames = (): readonly string[] =>
  listFields('(?:export )?(?:interface|type) \\w+');

function listFields(declarations: string, part = /^/): readonly string[] {
  const kinds = new RegExp(`^${declarations}\\b[^;{]*\\{\\n[\\s\\S]*?^(?:\\}|\\))`, 'gm');
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !OTHERS.test(file) && part.test(file),
  );
  const names = files.flatMap((file) => {
    const code = readFileSync(path.join('src', file), 'utf8');
    return [...code.matchAll(kinds)].flatMap(([declaration]) =>
      [...declaration.matchAll(FIELD)].map(([, quoted, name]) => (quoted ?? name) as string),
    );
  });
  // Node's own fetch, WebCrypto and streams make descriptors and sources, which read these.
  const others = ['if', 'for', 'return', 'constructor', 'get', 'set', 'cancel'];
  return [...new Set(names)].filter((name) => !others.includes(name)).sort();
}
