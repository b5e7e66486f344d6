import { spawnSync } from 'node:child_process';

const SCRIPT = `
import json, sys, xml.etree.ElementTree as tree
def plain(e): return {"tag": e.tag, "attributes": e.attrib, "text": (e.text or "").strip(), "children": [plain(c) for c in e]}
print(json.dumps(plain(tree.fromstring(sys.stdin.buffer.read()))))
`;

export interface XmlElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** Whether this machine has Python, whose XML parser is not of this project. */
export const hasXmlParser =
  spawnSync('python3', ['-c', 'import xml.etree.ElementTree']).status === 0;

/** What a parser of another language makes of an XML document. */
export function parseXml(document: string): XmlElement {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', SCRIPT], { input: document });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}
