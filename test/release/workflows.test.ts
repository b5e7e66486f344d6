import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Record<string, string>;
}

interface Workflow {
  readonly on: Record<string, unknown>;
  readonly permissions: Record<string, string>;
  readonly jobs: Record<
    string,
    {
      readonly needs?: string | readonly string[];
      readonly permissions?: Record<string, string>;
      readonly 'timeout-minutes'?: number;
      readonly steps: readonly Step[];
    }
  >;
}

/** What jobs may do beyond reading the repository. */
const grants: Record<string, Record<string, Record<string, string>>> = {
  'release.yml': { stage: { 'id-token': 'write' }, describe: { contents: 'write' } },
  'codeql.yml': { analyze: { contents: 'read', 'security-events': 'write' } },
  'scorecard.yml': { scorecard: { contents: 'read', 'security-events': 'write' } },
};

const FOLDER = '.github/workflows';
const workflows = readdirSync(FOLDER).map((name) => {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});

const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);

describe.each(workflows)('$name', ({ name, text, workflow }) => {
  it('pins every action by the hash of a commit, and says its version', () => {
    const uses = stepsOf(workflow).flatMap((step) => step.uses ?? []);
    expect(uses).not.toEqual([]);
    for (const action of uses) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+(?:\/[\w-]+)?@[0-9a-f]{40}$/);
      const lines = text.split('\n').filter((line) => line.includes(action));
      for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('is granted nothing, or to read, unless a job is listed with more', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(workflow.permissions);
    const granted = Object.entries(workflow.jobs).map(
      ([job, { permissions = workflow.permissions }]) => [job, permissions],
    );
    const expected = grants[name] ?? {};
    const reads = Object.keys(workflow.jobs).map((job) => [job, { contents: 'read' }]);
    expect(Object.fromEntries(granted)).toEqual({ ...Object.fromEntries(reads), ...expected });
  });

  it('puts nothing that a stranger writes into a command', () => {
    // The commands of the matrix stand in the file itself; everything else goes by the environment.
    const inserted = stepsOf(workflow).flatMap(({ run = '' }) => run.match(/\$\{\{.*?\}\}/g) ?? []);
    for (const expression of inserted) expect(expression).toMatch(/^\$\{\{ matrix\.[a-z]+ \}\}$/);
    // Runs with rights of this repository on what a stranger sends.
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
  });
});

describe('release.yml', () => {
  const found = workflows.find(({ name }) => name === 'release.yml');
  const { jobs } = (found as (typeof workflows)[number]).workflow;
  const commandsOf = (job: string) => jobs[job]?.steps.flatMap(({ run }) => run ?? []) ?? [];

  it('runs nothing of the repository where it may sign or write', () => {
    for (const job of ['stage', 'describe']) {
      const { steps = [] } = jobs[job] ?? {};
      const actions = steps.flatMap(({ uses }) => uses?.split('@')[0] ?? []);
      expect(actions).not.toContain('actions/checkout');
      const commands = steps.flatMap(({ run = '' }) => run.match(/^(?:npm|gh) \w+/gm) ?? []);
      expect(commands).toEqual(
        job === 'stage' ? ['npm pack', 'npm install', 'npm stage'] : ['gh release'],
      );
    }
    expect(commandsOf('stage').at(-1)).toContain('--ignore-scripts');
  });

  it('publishes nothing by itself: a person approves what was staged, and the release is a draft', () => {
    expect(commandsOf('stage').at(-1)).toMatch(/^npm stage publish \.\/release\/\*\.tgz /);
    expect(commandsOf('describe')).toEqual([expect.stringContaining(' --draft ')]);
    expect(found?.text).not.toMatch(/npm publish/);
  });

  it('packs and stages with the npm that package.json names, by its digest', () => {
    const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, version, digest] =
      /^npm@([\d.]+)\+sha512\.([0-9a-f]{128})$/.exec(packageManager) ?? [];
    const tarball = `npm-${version}.tgz`;
    const pin = [
      `npm pack npm@${version}`,
      `echo '${digest}  ${tarball}' | sha512sum --check`,
      `npm install --global --ignore-scripts ./${tarball}`,
    ];
    for (const job of ['pack', 'stage']) {
      expect(commandsOf(job).map((command) => command.trim())).toContain(pin.join('\n'));
    }
  });

  it('packs where no test and no install script has run, and publishes what was tested', () => {
    const commands = commandsOf('pack');
    expect(commands).toContain('npm ci --ignore-scripts');
    expect(commands.join('\n')).not.toMatch(/\.ci\/run|npm (?:run )?test/);
    expect(jobs['stage']?.needs).toEqual(['test', 'pack']);
  });

  it('holds no secret', () => {
    expect(found?.text).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/);
  });
});
