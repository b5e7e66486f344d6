import type { Connection, Snapshot } from './data/live-data.js';
import { type Route, toHash } from './data/route.js';
import { useClockText } from './data/service-clock.js';
import { writeTime } from './data/time-text.js';

interface HeaderProps {
  readonly route: Route;
  readonly data: Snapshot;
  readonly title: string;
}

const connections: Readonly<Record<Connection, { sign: string; text: string }>> = {
  connecting: { sign: '○', text: 'Connecting…' },
  live: { sign: '●', text: 'Live' },
  reconnecting: { sign: '○', text: 'Reconnecting…' },
};

export function Header({ route, data, title }: HeaderProps) {
  const counts = data.service?.counts;
  const { sign, text } = connections[data.connection];
  const entries = [
    { view: 'payments', label: 'Payments', count: counts?.payments },
    { view: 'requests', label: 'Requests', count: counts?.requests },
    { view: 'faults', label: 'Faults', count: counts?.faults },
    { view: 'service', label: 'Service', count: undefined },
  ] as const;
  return (
    <header class="top">
      <h1>{title}</h1>
      <nav aria-label="Views">
        <ul>
          {entries.map(({ view, label, count }) => (
            <li key={view}>
              <a href={toHash({ view })} aria-current={route.view === view ? 'page' : undefined}>
                {label}
                {count !== undefined && <span class="count">{count}</span>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <p class="clock">
        <span class="visually-hidden">The service’s time: </span>
        <ServiceTime />
      </p>
      <p class={`connection ${data.connection}`} role="status">
        <span aria-hidden="true">{sign}</span> <span>{text}</span>
      </p>
    </header>
  );
}

function ServiceTime() {
  return <span title="The service’s time">{useClockText(writeTime)}</span>;
}
