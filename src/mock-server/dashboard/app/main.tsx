import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CallbacksView } from './callbacks-view.js';
import { FaultsView } from './faults-view.js';
import { writeCount, writeTime } from './format.js';
import { Keys } from './keys.js';
import { PaymentsView } from './payments-view.js';
import { RequestsView } from './requests-view.js';
import { type Route, toHash, useRoute, type ViewName, views } from './route.js';
import { CallbackUrlForm, describeMove, ServiceView } from './service-view.js';
import { type Snapshot, show, start, useSnapshot } from './state.js';
import { useClockText } from './time.js';

const NAME = 'Till';
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href;
const connections: Readonly<
  Record<Snapshot['connection'], { sign: string; text: string; tone: string }>
> = {
  connecting: { sign: '○', text: 'Connecting…', tone: '' },
  live: { sign: '●', text: 'Live', tone: 'good-text' },
  reconnecting: { sign: '○', text: 'Reconnecting…', tone: 'bad-text' },
};

function App() {
  const route = useRoute();
  const data = useSnapshot();
  const main = useRef<HTMLElement>(null);
  const { view, rest } = route;
  useEffect(() => show(route), [view, rest]);
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
      <Alerts data={data} showsUrlForm={view !== 'service'} />
      <main ref={main} tabIndex={-1}>
        {view === 'payments' && <PaymentsView data={data} referenceNumber={rest} />}
        {view === 'callbacks' && <CallbacksView data={data} group={rest} />}
        {view === 'requests' && <RequestsView data={data} outcome={rest} />}
        {view === 'faults' && <FaultsView faults={data.faults} />}
        {view === 'service' && <ServiceView service={data.service} />}
      </main>
      <p class="visually-hidden" role="status" aria-live="polite">
        {data.announcement}
      </p>
    </>
  );
}

function titleOf(route: Route, { detail }: Snapshot): string {
  return route.view === 'payments' && typeof detail === 'object'
    ? detail.payment.merchantPaymentReference
    : views[route.view];
}

function Header({ route, data }: { route: Route; data: Snapshot }) {
  const { sign, text, tone } = connections[data.connection];
  return (
    <header class="top">
      <h1>
        <img src={icon} alt="" width="24" height="24" />
        {NAME}
      </h1>
      <nav aria-label="Views">
        <ul>
          {(Object.keys(views) as ViewName[]).map((view) => (
            <li key={view}>
              <a href={toHash(view)} aria-current={route.view === view ? 'page' : undefined}>
                {views[view]}
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
      <p class={`connection ${tone}`} role="status">
        <span aria-hidden="true">{sign}</span> <span>{text}</span>
      </p>
      <Keys />
    </header>
  );
}

/** How many entries a view has. For callbacks, the failed ones if there are any. */
function Count({ view, service }: { view: ViewName; service: Snapshot['service'] }) {
  if (service === undefined || view === 'service') return null;
  const { counts } = service;
  if (view !== 'callbacks') {
    // Every pending fault makes something fail.
    const isWarning = view === 'faults' && counts.faults > 0;
    return <span class={isWarning ? 'count waiting' : 'count'}>{writeCount(counts[view])}</span>;
  }
  const { failed, ...others } = counts.callbacks;
  if (failed > 0) {
    return (
      <span class="count bad">
        {writeCount(failed)}
        <span class="word"> failed</span>
      </span>
    );
  }
  const total = Object.values(others).reduce((sum, count) => sum + count, 0);
  return <span class="count">{writeCount(total)}</span>;
}

/** Shown when the clock was moved, as that explains what else looks wrong. */
function Moved({ service }: { service: Snapshot['service'] }) {
  const moved = service && describeMove(service);
  if (moved === undefined) return null;
  return (
    <a class="badge waiting" href={toHash('service')}>
      {moved}
    </a>
  );
}

// A component, so that a tick of the clock redraws nothing else.
function ServiceTime() {
  return <span title="The service’s time">{useClockText(writeTime)}</span>;
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
start();
render(<App />, root);
