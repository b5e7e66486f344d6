// Writes the software bill of materials (CycloneDX) of the published package: its dependencies, and what is
// bundled into its files. The same commit gives the same bytes.
//
// node scripts/make-sbom.mjs [folder]

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Enums, Models, Serialize, Spec, Validation } from '@cyclonedx/cyclonedx-library';

// Bundled into dist/; THIRD_PARTY_NOTICES has the licences.
const BUNDLED = ['preact', 'zod'];

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lockfile = readFileSync('package-lock.json', 'utf8');
const { packages } = JSON.parse(lockfile);

const root = component(manifest.name, manifest);
root.description = manifest.description;
const bom = new Models.Bom({ metadata: new Models.Metadata({ component: root }) });
bom.serialNumber = `urn:uuid:${uuidOf(`${manifest.name}@${manifest.version} ${lockfile}`)}`;

for (const name of Object.keys(manifest.dependencies)) {
  const dependency = component(name, packages[`node_modules/${name}`]);
  bom.components.add(dependency);
  root.dependencies.add(dependency.bomRef);
}
for (const name of BUNDLED) {
  const bundled = component(name, packages[`node_modules/${name}`]);
  bundled.properties.add(new Models.Property('cdx:npm:package:bundled', 'true'));
  bom.components.add(bundled);
  root.dependencies.add(bundled.bomRef);
}

const version = Spec.Version.v1dot6;
const json = new Serialize.JsonSerializer(
  new Serialize.JSON.Normalize.Factory(Spec.SpecVersionDict[version]),
).serialize(bom, { sortLists: true, space: 2 });
const faults = await new Validation.JsonStrictValidator(version).validate(json);
if (faults) throw new Error(`Not valid CycloneDX ${version}: ${JSON.stringify(faults)}`);

const [, , folder = 'release'] = process.argv;
const file = path.join(folder, `${manifest.name}-${manifest.version}.cdx.json`);
mkdirSync(folder, { recursive: true });
writeFileSync(file, `${json}\n`);
console.log(`${file}: ${bom.components.size} components, valid CycloneDX ${version}`);

function component(name, { version: release, license, integrity }) {
  const purl = `pkg:npm/${name}@${release}`;
  const made = new Models.Component(Enums.ComponentType.Library, name, {
    version: release,
    bomRef: purl,
    purl,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense(license)]),
  });
  if (integrity) {
    const [algorithm, digest] = integrity.split('-');
    if (algorithm !== 'sha512') throw new Error(`${name} is locked by ${algorithm}, not sha512`);
    made.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(digest, 'base64').toString('hex'));
  }
  return made;
}

/** A UUID (version 8, RFC 9562) that follows from a text. */
function uuidOf(text) {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
