import { useEffect, useState } from 'preact/hooks';
import type { CallbackGroup } from '../../control/callback-groups.js';

export type ViewName = 'payments' | 'callbacks' | 'requests' | 'faults' | 'endpoint' | 'service';

/** The current view, kept in the URL's hash so that reload and back work. */
export type Route =
  | { readonly view: 'payments'; readonly referenceNumber?: string | undefined }
  | { readonly view: 'callbacks'; readonly group?: CallbackGroup | undefined }
  | { readonly view: 'requests' | 'faults' | 'endpoint' | 'service' };

/** In the order of the tabs. */
export const callbackGroupLabels: Readonly<Record<CallbackGroup, string>> = {
  failed: 'Failed',
  waiting: 'Waiting',
  'not-sent': 'Not sent',
  done: 'Done',
};

export const groupNames = Object.keys(callbackGroupLabels) as readonly CallbackGroup[];

export function parseRoute(hash: string): Route {
  const [, view, rest] = /^#\/(\w+)(?:\/(.+))?$/.exec(hash) ?? [];
  switch (view) {
    case 'requests':
    case 'faults':
    case 'endpoint':
    case 'service':
      return { view };
    case 'callbacks':
      return { view, group: groupNames.find((group) => group === rest) };
    default:
      return { view: 'payments', referenceNumber: rest === undefined ? undefined : decode(rest) };
  }
}

export function toHash(route: Route): string {
  const rest =
    (route.view === 'payments' && route.referenceNumber) ||
    (route.view === 'callbacks' && route.group);
  return rest ? `#/${route.view}/${encodeURIComponent(rest)}` : `#/${route.view}`;
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
