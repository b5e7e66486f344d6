import { useEffect, useState } from 'preact/hooks';

/** The view that is shown; it is in the URL's hash, so that reload and back work. */
export type Route =
  | { readonly view: 'payments'; readonly referenceNumber?: string | undefined }
  | { readonly view: 'requests' | 'faults' | 'service' };

export function parseRoute(hash: string): Route {
  const [, view, rest] = /^#\/(\w+)(?:\/(.+))?$/.exec(hash) ?? [];
  if (view === 'requests' || view === 'faults' || view === 'service') return { view };
  return { view: 'payments', referenceNumber: rest === undefined ? undefined : decode(rest) };
}

export function toHash(route: Route): string {
  if (route.view !== 'payments' || route.referenceNumber === undefined) return `#/${route.view}`;
  return `#/payments/${encodeURIComponent(route.referenceNumber)}`;
}

export function goTo(route: Route): void {
  window.location.hash = toHash(route);
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
