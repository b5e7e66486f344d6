import { ControlFailure, failures } from './control-answers.js';
import type { ControlCall } from './control-call.js';

type Handler = (call: ControlCall, id: string) => Response | Promise<Response>;

/** A method, a path in which `:id` stands for an identifier, and what answers. */
export type Route = readonly [method: string, path: string, handle: Handler];

interface FoundRoute {
  readonly handle: Handler;
  /** What stands for `:id`; empty where the path has none. */
  readonly id: string;
}

/** @throws {ControlFailure} 404 for an unknown path, 405 for another method */
export function findRoute(routes: readonly Route[], { method, path }: ControlCall): FoundRoute {
  const allowed: string[] = [];
  for (const [routeMethod, pattern, handle] of routes) {
    const id = matchPath(pattern, path);
    if (id === undefined) continue;
    if (routeMethod === method) return { handle, id };
    allowed.push(routeMethod);
  }
  if (allowed.length === 0) {
    throw new ControlFailure(
      failures.notFound,
      'There is nothing at this path of the control interface',
    );
  }
  throw new ControlFailure(
    failures.methodNotAllowed,
    `The method must be ${allowed.join(' or ')} at this path`,
    { allow: allowed.join(', ') },
  );
}

/** What stands for `:id`, empty without one; nothing when the path is another. */
function matchPath(pattern: string, path: string): string | undefined {
  const wanted = pattern.split('/');
  const came = path.split('/');
  if (wanted.length !== came.length) return undefined;
  let id = '';
  for (const [index, part] of wanted.entries()) {
    const segment = came[index] ?? '';
    if (part !== ':id') {
      if (part !== segment) return undefined;
      continue;
    }
    id = decodeSegment(segment);
    if (id === '') return undefined;
  }
  return id;
}

/** Empty, which is no identifier, for what is no URL encoding. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
