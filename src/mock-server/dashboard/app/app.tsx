import { useEffect, useRef } from 'preact/hooks';
import { useAnnouncement } from './data/announcements.js';
import { liveData, type Snapshot, useLiveData } from './data/live-data.js';
import { type Route, toHash, useRoute } from './data/route.js';
import { Header } from './header.js';
import { CallbackUrlForm } from './panels/callback-url-form.js';
import { FaultsView } from './panels/faults-view.js';
import { RequestsView } from './panels/requests-view.js';
import { ServiceView } from './panels/service-view.js';
import { PaymentsView } from './payments/payments-view.js';

const TITLE = 'Mock payment service';
const viewTitles = { requests: 'Requests', faults: 'Faults', service: 'Service' };

export function App() {
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
      {/* No link: the hash says what is looked at. */}
      <button type="button" class="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header route={route} data={data} title={TITLE} />
      <Alerts data={data} showsUrlForm={route.view !== 'service'} />
      <main id="main" ref={main} tabIndex={-1}>
        <View route={route} data={data} />
      </main>
      <Announcement />
    </>
  );
}

function View({ route, data }: { route: Route; data: Snapshot }) {
  if (route.view === 'payments') {
    return <PaymentsView data={data} referenceNumber={route.referenceNumber} />;
  }
  if (route.view === 'requests') return <RequestsView requests={data.requests} />;
  if (route.view === 'faults') return <FaultsView faults={data.faults} />;
  return <ServiceView service={data.service} />;
}

function Alerts({ data, showsUrlForm }: { data: Snapshot; showsUrlForm: boolean }) {
  const { connection, failure, service } = data;
  return (
    <div class="alerts">
      <div role="alert">
        {connection === 'reconnecting' && (
          <p class="alert bad">
            <strong>The mock does not answer;</strong> reconnecting… What is shown may be old. Was
            its process stopped?
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

function Announcement() {
  return (
    <p class="visually-hidden" role="status" aria-live="polite">
      {useAnnouncement()}
    </p>
  );
}

function titleOf(route: Route, { detail }: Snapshot): string {
  if (route.view !== 'payments') return viewTitles[route.view];
  return typeof detail === 'object' ? detail.payment.merchantPaymentReference : 'Payments';
}
