import type { Ended } from './run-command.js';

/** Collects what a command prints, and waits for it. */
export function watchOutput() {
  const output = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  let hasEnded = false;
  const notify = () => {
    for (const watcher of watchers) watcher();
  };
  return {
    output,
    hasEnded: () => hasEnded,
    add(name: 'stdout' | 'stderr', text: string) {
      output[name] += text;
      notify();
    },
    end(code: number | null, signal: NodeJS.Signals | null): Ended {
      hasEnded = true;
      notify();
      return { code, signal, ...output };
    },
    printed: (pattern: RegExp, on: 'stdout' | 'stderr' = 'stdout') =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const check = () => {
          const found = pattern.exec(output[on]);
          if (found !== null) resolve(found);
          else if (hasEnded) reject(new Error(`It ended without ${pattern}:\n${output.stderr}`));
          else return;
          watchers.delete(check);
        };
        watchers.add(check);
        check();
      }),
  };
}
