import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { NOW_MS, type Profile } from './profiles.js';

const ORACLE = fileURLToPath(new URL('../oracle.py', import.meta.url));

/** A callback as the oracle reads it: every value of every header, and the body. */
export interface OracleCase {
  readonly profile: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array;
}

/** No codes mean that it is to be accepted; else each of them is right. */
export interface OracleVerdict {
  readonly codes: readonly string[];
  /** What is wrong with the headers alone, which a receiver looks at before the body. */
  readonly headerCodes: readonly string[];
  readonly secretIndex?: number;
}

export interface Oracle {
  /** What the Python process says of each case. */
  judge(cases: readonly OracleCase[]): Promise<readonly OracleVerdict[]>;
  close(): Promise<void>;
}

/** The version of python3, or nothing where there is none. */
export function findPython(): string | undefined {
  const { status, stdout } = spawnSync('python3', ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

export function startOracle(profiles: readonly Profile[]): Oracle {
  const python = spawn('python3', [ORACLE], { stdio: ['pipe', 'pipe', 'inherit'] });
  const described = profiles.map(({ secrets, ...policy }) => ({
    ...policy,
    nowMs: NOW_MS,
    secrets: secrets.map((secret) => Buffer.from(secret).toString('base64')),
  }));
  const waiting: {
    resolve(verdicts: readonly OracleVerdict[]): void;
    reject(error: Error): void;
  }[] = [];
  createInterface({ input: python.stdout }).on('line', (line) => {
    waiting.shift()?.resolve(JSON.parse(line));
  });
  python.on('exit', (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`oracle.py ended with ${code}`));
  });

  return {
    judge: (cases) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        python.stdin.write(
          `${JSON.stringify({ profiles: described, cases: cases.map(encode) })}\n`,
        );
      }),
    close: () => end(python),
  };
}

function encode({ profile, headers, body }: OracleCase): object {
  return typeof body === 'string'
    ? { profile, headers, text: body }
    : { profile, headers, bytes: Buffer.from(body).toString('base64') };
}

async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return;
  process.stdin?.end();
  await once(process, 'exit');
}
