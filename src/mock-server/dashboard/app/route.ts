import { useEffect, useState } from 'preact/hooks';

/** The views, in the order of the header. */
export const views = {
  payments: 'Payments',
  callbacks: 'Callbacks',
  requests: 'Requests',
  faults: 'Faults',
  service: 'Service',
} as const;

export type ViewName = keyof typeof views;

/** What is shown, kept in the URL's hash so that reload and back work. */
export interface Route {
  readonly view: ViewName;
  /** The open payment, or the filter of callbacks and requests. */
  readonly rest?: string | undefined;
}

function parseRoute(hash: string): Route {
  const [, view = '', rest] = /^#\/(\w+)(?:\/(.+))?$/.exec(hash) ?? [];
  if (!Object.hasOwn(views, view)) return { view: 'payments' };
  return { view: view as ViewName, rest: rest && decode(rest) };
}

export function toHash(view: ViewName, rest?: string): string {
  return rest === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(rest)}`;
}

export function goTo(view: ViewName, rest?: string): void {
  window.location.hash = toHash(view, rest);
}

export function useRoute(): Route {
  const [hash, setHash] = useState(window.location.hash);
  useEffect(() => {
    const read = () => setHash(window.location.hash);
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return parseRoute(hash);
}

// A hash can be typed by hand.
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
