import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-freeze-'));
  mkdirSync(path.join(folder, 'test/types'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function report(...declarations: readonly string[]): void {
  const text = `# What is exported\n\n- open\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\`\n`;
  writeFileSync(path.join(folder, 'test/types/merchant-payments.api.md'), text);
}

const changelog = (above: string, heading = '## 1.0.0 - 2026-01-31'): void =>
  writeFileSync(path.join(folder, 'CHANGELOG.md'), `# Changelog\n\n${above}${heading}\n\n- All.\n`);

function check(...args: readonly string[]): string {
  const script = path.resolve('scripts/check-freeze.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
}

const options = 'interface Options {\n    prefix?: string;\n}';
const open = 'declare function open(options: Options): void;';

describe('the public interface', () => {
  it('may change freely before the first release', () => {
    changelog('', '## 1.0.0 - unreleased');
    report(options, open);
    expect(check()).toBe('');
  });

  it('is kept with each release', () => {
    changelog('');
    report(options, open);
    expect(check()).toContain('is not that of 1.0.0; run: node scripts/check-freeze.mjs --release');
    expect(check('--release')).toBe('');
    expect(check()).toBe('');
    changelog('## 1.1.0 - 2026-02-28\n\n');
    expect(check()).toContain('is not that of 1.1.0');
  });

  describe('once it is released', () => {
    beforeEach(() => {
      changelog('');
      report(options, open);
      check('--release');
    });

    it.each([
      ['changes', [options.replace('?', ''), open], 'Options'],
      ['loses a name', [options], 'open'],
      ['gets a name', [options, open, 'type Other = string;'], 'Other'],
      ['gets an overload', [options, open, 'declare function open(): void;'], 'open'],
    ] as const)('%s only if CHANGELOG.md names it', (_what, declarations, name) => {
      report(...declarations);
      const missing = `named by no "### Breaking" or "### Added" above it in CHANGELOG.md: ${name}\n`;
      for (const above of ['', '### Fixed\n\n- `open`, `Options`, `Other`\n\n', '### Added\n\n']) {
        changelog(above && `## 1.1.0 - unreleased\n\n${above}`);
        expect(check()).toContain(missing);
      }
      for (const title of ['Breaking', 'Added']) {
        changelog(`## 1.1.0 - unreleased\n\n### ${title}\n\n- \`${name}()\` is new.\n\n`);
        expect(check()).toBe('');
      }
    });
  });
});
