import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAnnouncement } from './announcement.js';
import { CallbacksView } from './callbacks-view.js';
import { EndpointView } from './endpoint-view.js';
import { FaultsView } from './faults-view.js';
import { writeCount, writeTime } from './format.js';
import { type Connection, liveData, type Snapshot, useLiveData } from './live-data.js';
import { PaymentsView } from './payments-view.js';
import { RequestsView } from './requests-view.js';
import { type Route, toHash, useRoute, type ViewName } from './route.js';
import { CallbackUrlForm, describeMove, ServiceView } from './service-view.js';
import { Shortcuts } from './shortcuts.js';
import { useClockText } from './time.js';

const NAME = 'Till';
const viewTitles: Readonly<Record<ViewName, string>> = {
  payments: 'Payments',
  callbacks: 'Callbacks',
  requests: 'Requests',
  faults: 'Faults',
  endpoint: 'Endpoint',
  service: 'Service',
};
const connections: Readonly<Record<Connection, { sign: string; text: string }>> = {
  connecting: { sign: '○', text: 'Connecting…' },
  live: { sign: '●', text: 'Live' },
  reconnecting: { sign: '○', text: 'Reconnecting…' },
};

function App() {
  const route = useRoute();
  const data = useLiveData();
  const main = useRef<HTMLElement>(null);
  const hash = toHash(route);
  useEffect(() => liveData.show(route), [hash]);
  useEffect(() => {
    // A background tab shows it too.
    const failed = data.service?.counts.callbacks.failed ?? 0;
    const prefix = failed > 0 ? `(${writeCount(failed)} failed) ` : '';
    document.title = `${prefix}${titleOf(route, data)} · ${NAME}`;
  });

  return (
    <>
      {/* Not a link: the hash names the view. */}
      <button type="button" class="button primary skip-link" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header route={route} data={data} />
      <Alerts data={data} showsUrlForm={route.view !== 'service'} />
      <main ref={main} tabIndex={-1}>
        {route.view === 'payments' && (
          <PaymentsView data={data} referenceNumber={route.referenceNumber} />
        )}
        {route.view === 'callbacks' && <CallbacksView data={data} group={route.group} />}
        {route.view === 'endpoint' && <EndpointView service={data.service} />}
        {route.view === 'requests' && <RequestsView page={data.requests} />}
        {route.view === 'faults' && <FaultsView faults={data.faults} />}
        {route.view === 'service' && <ServiceView service={data.service} />}
      </main>
      <Announcement />
    </>
  );
}

function titleOf(route: Route, { detail }: Snapshot): string {
  return route.view === 'payments' && typeof detail === 'object'
    ? detail.payment.merchantPaymentReference
    : viewTitles[route.view];
}

function Header({ route, data }: { route: Route; data: Snapshot }) {
  const { sign, text } = connections[data.connection];
  return (
    <header class="top">
      <h1>
        <Logo />
        {NAME} <span class="tagline">mock payment service</span>
      </h1>
      <nav aria-label="Views">
        <ul>
          {(Object.keys(viewTitles) as ViewName[]).map((view) => (
            <li key={view}>
              <a href={toHash({ view })} aria-current={route.view === view ? 'page' : undefined}>
                {viewTitles[view]}
                <Count view={view} service={data.service} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <p class="clock">
        <span class="visually-hidden">The service’s time: </span>
        <ServiceTime />
        <Moved service={data.service} />
      </p>
      <p class={`connection ${data.connection}`} role="status">
        <span aria-hidden="true">{sign}</span> <span>{text}</span>
      </p>
      <Shortcuts />
    </header>
  );
}

/** A checked receipt leaving a till. The icon in page.html is the same. */
function Logo() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <path class="mark-paper" d="M9 3h14v15H9z" />
      <path class="mark-sign" d="m12.5 10 2.5 2.5 4.5-5" />
      <path class="mark-till" d="M4 16h24l2 9v4H2v-4z" />
      <path class="mark-slot" d="M9 20.5h14" />
    </svg>
  );
}

/** How many entries a view has. For callbacks, the failed ones if there are any. */
function Count({ view, service }: { view: ViewName; service: Snapshot['service'] }) {
  if (service === undefined || view === 'endpoint' || view === 'service') return null;
  const { counts } = service;
  if (view !== 'callbacks') {
    // Every pending fault makes something fail.
    const isWarning = view === 'faults' && counts.faults > 0;
    return <span class={isWarning ? 'count waiting' : 'count'}>{writeCount(counts[view])}</span>;
  }
  const { failed, ...others } = counts.callbacks;
  if (failed > 0) return <span class="count bad">{writeCount(failed)} failed</span>;
  const total = Object.values(others).reduce((sum, count) => sum + count, 0);
  return <span class="count">{writeCount(total)}</span>;
}

/** Shown when the clock was moved, as that explains what else looks wrong. */
function Moved({ service }: { service: Snapshot['service'] }) {
  // Only later readings show whether the clock stands still.
  useClockText(writeTime);
  const moved = service && describeMove(service);
  if (moved === undefined) return null;
  return (
    <a class="badge waiting" href={toHash({ view: 'service' })}>
      {moved}
    </a>
  );
}

// Separate components, so that a tick of the clock or an announcement redraws nothing else.
function ServiceTime() {
  return <span title="The service’s time">{useClockText(writeTime)}</span>;
}

function Announcement() {
  return (
    <p class="visually-hidden" role="status" aria-live="polite">
      {useAnnouncement()}
    </p>
  );
}

function Alerts({ data, showsUrlForm }: { data: Snapshot; showsUrlForm: boolean }) {
  const { connection, failure, service } = data;
  return (
    <div>
      <div role="alert">
        {connection === 'reconnecting' && (
          <p class="alert bad">
            <strong>The mock does not answer;</strong> reconnecting… This page may be out of date.
            Was the mock stopped?
          </p>
        )}
        {failure !== undefined && <p class="alert bad">The mock answered: {failure}</p>}
      </div>
      {service?.callbackUrl === null && (
        <section class="alert waiting" aria-label="Warning">
          <p>
            <strong>No callback URL is set: status changes send nothing.</strong>
          </p>
          {showsUrlForm && <CallbackUrlForm callbackUrl={null} />}
        </section>
      )}
    </div>
  );
}

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element with the id app');
liveData.start();
render(<App />, root);
