const FLAG = /^--(no-)?use[-_]env[-_]proxy$/;

/**
 * Whether Node was told to use the proxies of the environment: by `NODE_USE_ENV_PROXY=1`, or by
 * `--use-env-proxy` in NODE_OPTIONS or on the command line, of which the last one holds.
 */
export function usesEnvProxy({
  env,
  execArgv,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execArgv: readonly string[];
}): boolean {
  if (env['NODE_USE_ENV_PROXY'] === '1') return true;
  const options = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/), ...execArgv];
  const last = options.map((option) => FLAG.exec(option)).findLast((match) => match !== null);
  return last !== null && last !== undefined && last[1] === undefined;
}
