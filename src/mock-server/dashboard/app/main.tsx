import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { FaultsView } from './faults-view.js';
import {
  type Connection,
  liveData,
  type Snapshot,
  useAnnouncement,
  useLiveData,
} from './live-data.js';
import { PaymentsView } from './payments-view.js';
import { RequestsView } from './requests-view.js';
import { type Route, toHash, useRoute } from './route.js';
import { CallbackUrlForm, ServiceView } from './service-view.js';
import { useClockText } from './time.js';
import { writeTime } from './time-text.js';

const TITLE = 'Mock payment service';
const viewTitles = {
  payments: 'Payments',
  requests: 'Requests',
  faults: 'Faults',
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
    document.title = `${titleOf(route, data)} · ${TITLE}`;
  });

  return (
    <>
      {/* Not a link: the hash names the view. */}
      <button type="button" class="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header route={route} data={data} />
      <Alerts data={data} showsUrlForm={route.view !== 'service'} />
      <main id="main" ref={main} tabIndex={-1}>
        {route.view === 'payments' && (
          <PaymentsView data={data} referenceNumber={route.referenceNumber} />
        )}
        {route.view === 'requests' && <RequestsView requests={data.requests} />}
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
  const counts = data.service?.counts;
  const { sign, text } = connections[data.connection];
  const countOf = { ...counts, service: undefined };
  return (
    <header class="top">
      <h1>{TITLE}</h1>
      <nav aria-label="Views">
        <ul>
          {(['payments', 'requests', 'faults', 'service'] as const).map((view) => (
            <li key={view}>
              <a href={toHash({ view })} aria-current={route.view === view ? 'page' : undefined}>
                {viewTitles[view]}
                {countOf[view] !== undefined && <span class="count">{countOf[view]}</span>}
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

// Separate components, so that a tick of the clock or an announcement draws nothing else.
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
    <div class="alerts">
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
