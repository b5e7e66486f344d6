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
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      const lines = text.split('\n').filter((line) => line.includes(action));
      for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('is granted nothing, or to read, unless a job of the release asks for more', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(workflow.permissions);
    const granted = Object.entries(workflow.jobs).map(
      ([job, { permissions = workflow.permissions }]) => [job, permissions],
    );
    expect(Object.fromEntries(granted)).toEqual(
      name === 'release.yml'
        ? {
            test: { contents: 'read' },
            pack: { contents: 'read' },
            publish: { 'id-token': 'write' },
            describe: { contents: 'write' },
          }
        : Object.fromEntries(Object.keys(workflow.jobs).map((job) => [job, { contents: 'read' }])),
    );
  });

  it('has a limit of time for each job', () => {
    for (const job of Object.values(workflow.jobs)) {
      expect(job['timeout-minutes']).toBeGreaterThan(0);
    }
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

  it('runs nothing of the repository where it may sign or write', () => {
    for (const job of ['publish', 'describe']) {
      const { steps = [] } = jobs[job] ?? {};
      const commands = steps.flatMap(({ run }) => run?.split(' ').slice(0, 2).join(' ') ?? []);
      expect(commands).toEqual([job === 'publish' ? 'npm publish' : 'gh release']);
      const actions = steps.flatMap(({ uses }) => uses?.split('@')[0] ?? []);
      expect(actions).not.toContain('actions/checkout');
    }
    const [publishing] = jobs['publish']?.steps.flatMap(({ run }) => run ?? []) ?? [];
    expect(publishing).toContain('--ignore-scripts');
  });

  it('packs where no test and no install script has run, and publishes what was tested', () => {
    const commands = jobs['pack']?.steps.flatMap(({ run }) => run ?? []) ?? [];
    expect(commands).toContain('npm ci --ignore-scripts');
    expect(commands.join('\n')).not.toMatch(/\.ci\/run|npm (?:run )?test/);
    expect(jobs['publish']?.needs).toEqual(['test', 'pack']);
  });

  it('holds no secret', () => {
    expect(found?.text).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/);
  });
});
