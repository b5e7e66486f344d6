import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ControlState } from '../../control/control-types.js';
import { Button } from './controls.js';
import { useClockText, writeTime } from './format.js';
import { isFound, type Line, linesOf } from './lines.js';
import {
  CallbackUrlForm,
  CreatePanel,
  describeMove,
  FaultsPanel,
  SettingsPanel,
} from './panels.js';
import { type Snapshot, start, useSnapshot } from './state.js';
import { Story } from './story.js';
import { Stream } from './stream.js';
import { CopyButton, RawText } from './texts.js';

const NAME = 'Till';
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href;

type PanelName = 'create' | 'faults' | 'settings';

function App() {
  const { connection, state, failure } = useSnapshot();
  const [panel, setPanel] = useState<PanelName | undefined>(undefined);
  const [search, setSearch] = useState('');
  const [isFailedOnly, setFailedOnly] = useState(false);
  const lines = useMemo(() => (state ? linesOf(state) : []), [state]);
  const failed = lines.filter(({ answer }) => answer.tone === 'bad');
  const place = usePlace();
  const box = useRef<HTMLInputElement>(null);
  useKeys({ box, onEscape: () => (panel ? setPanel(undefined) : leave(setSearch, search)) });
  useEffect(() => {
    // A background tab shows it too.
    const prefix = failed.length > 0 ? `(${failed.length} failed) ` : '';
    document.title = `${prefix}${place.opened ? titleOf(state, place.opened) : 'Stream'} · ${NAME}`;
  });
  const shown = (isFailedOnly ? failed : lines).filter((line) =>
    isFound(line, search.trim().toLowerCase()),
  );
  const toggle = (name: PanelName) => () => setPanel(panel === name ? undefined : name);

  return (
    <>
      <header class="top">
        <h1>
          <img src={icon} alt="" width="24" height="24" />
          {NAME}
        </h1>
        <Button kind="primary" isExpanded={panel === 'create'} onClick={toggle('create')}>
          Create payment
        </Button>
        <Button isExpanded={panel === 'faults'} onClick={toggle('faults')}>
          Faults {state && state.faults.length > 0 && <Count of={state.faults.length} />}
        </Button>
        <Button isExpanded={panel === 'settings'} onClick={toggle('settings')}>
          Settings
        </Button>
        <Clock state={state} />
        <Connection connection={connection} />
      </header>
      {state !== undefined && panel !== undefined && (
        <section class="panel" aria-label={panel}>
          {panel === 'create' && <CreatePanel count={state.counts.payments} />}
          {panel === 'faults' && <FaultsPanel faults={state.faults} />}
          {panel === 'settings' && <SettingsPanel state={state} />}
        </section>
      )}
      <Alerts connection={connection} failure={failure} state={state} />
      <main class={place.opened === undefined ? undefined : 'has-story'}>
        <section class="list" aria-label="Stream">
          <search class="tools">
            <input
              ref={box}
              type="search"
              aria-label="Search, in bodies too"
              placeholder="Search ( / )"
              value={search}
              onInput={({ currentTarget }) => setSearch(currentTarget.value)}
            />
            <Button isPressed={isFailedOnly} onClick={() => setFailedOnly(!isFailedOnly)}>
              Failed <Count of={failed.length} />
            </Button>
            <p class="muted" role="status">
              {describeCount(shown.length, lines.length)}
            </p>
          </search>
          {state === undefined && <p class="empty">Loading…</p>}
          {state !== undefined && lines.length === 0 && <First />}
          <Stream lines={shown} opened={place.line} />
          {state !== undefined && <Older state={state} />}
        </section>
        {state !== undefined && place.opened !== undefined && (
          <section class="pane" aria-labelledby="story">
            <Story
              key={place.opened}
              state={state}
              lines={lines.filter(({ payment, key }) => (payment ?? key) === place.opened)}
              payment={state.payments.find((one) => one.referenceNumber === place.opened)}
              opened={place.line}
            />
          </section>
        )}
      </main>
      <Announcement line={lines[0]} />
    </>
  );
}

/** What is open, kept in the URL's hash so that reload and back work. */
function usePlace(): { readonly opened: string | undefined; readonly line: string | undefined } {
  const [hash, setHash] = useState(window.location.hash);
  useEffect(() => {
    const read = () => setHash(window.location.hash);
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  const [opened, line] = hash.replace(/^#\/?/, '').split('/');
  return { opened: opened || undefined, line: line || (opened ?? undefined) };
}

interface Keys {
  readonly box: { readonly current: HTMLInputElement | null };
  readonly onEscape: () => void;
}

/** `/` searches, Esc goes back. */
function useKeys({ box, onEscape }: Keys): void {
  // That of the last drawing: an effect would follow some time after it, too late for a quick key.
  const goBack = useRef(onEscape);
  goBack.current = onEscape;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, isComposing } = event;
      if (ctrlKey || metaKey || altKey || isComposing) return;
      // In a menu, Escape closes the menu.
      if (key === 'Escape' && !(target instanceof HTMLSelectElement)) {
        goBack.current();
        box.current?.blur();
      }
      if (key !== '/' || isTyping(target)) return;
      event.preventDefault();
      box.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [box]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, select, textarea') !== null;

/** From the search to the whole stream, from what is open to the stream. */
function leave(setSearch: (text: string) => void, search: string): void {
  if (search !== '') setSearch('');
  else window.location.hash = '#/';
}

const titleOf = (state: ControlState | undefined, opened: string): string =>
  state?.payments.find((one) => one.referenceNumber === opened)?.merchantPaymentReference ??
  'Request';

const Count = ({ of }: { of: number }) => <span class="count">{of.toLocaleString()}</span>;

function describeCount(shown: number, all: number): string {
  const events = `${all} ${all === 1 ? 'event' : 'events'}`;
  return shown === all ? events : `${shown} of ${events}`;
}

const connections: Readonly<
  Record<Snapshot['connection'], { sign: string; text: string; tone: string }>
> = {
  connecting: { sign: '○', text: 'Connecting…', tone: '' },
  live: { sign: '●', text: 'Live', tone: 'good-text' },
  reconnecting: { sign: '○', text: 'Reconnecting…', tone: 'bad-text' },
};

function Connection({ connection }: Pick<Snapshot, 'connection'>) {
  const { sign, text, tone } = connections[connection];
  return (
    <p class={`connection ${tone}`} role="status">
      <span aria-hidden="true">{sign}</span> <span>{text}</span>
    </p>
  );
}

// A component, so that a tick of the clock redraws nothing else.
function Clock({ state }: Pick<Snapshot, 'state'>) {
  const text = useClockText(writeTime);
  const moved = state && describeMove(state);
  return (
    <p class="clock" title="The service’s time">
      <span class="visually-hidden">The service’s time: </span>
      {text}
      {moved !== undefined && <span class="waiting-text"> {moved}</span>}
    </p>
  );
}

function Alerts({ connection, failure, state }: Snapshot) {
  return (
    <>
      <div role="alert">
        {connection === 'reconnecting' && (
          <p class="alert bad">
            <strong>The mock does not answer;</strong> reconnecting… This page may be out of date.
          </p>
        )}
        {failure !== undefined && <p class="alert bad">The mock answered: {failure}</p>}
      </div>
      {state !== undefined && state.counts.secondPayments > 0 && (
        <p class="alert bad" role="alert">
          <strong>Second payments of an order: {state.counts.secondPayments}.</strong> Your code
          created each of these orders' payments twice.
        </p>
      )}
      {state?.callbackUrl === null && (
        <section class="alert waiting" aria-label="Warning">
          <strong>No callback URL is set: status changes send nothing.</strong>
          <CallbackUrlForm callbackUrl={null} />
        </section>
      )}
    </>
  );
}

function First() {
  const snippet = `import { PaymentClient } from 'merchant-payments';

// MERCHANT_PAYMENTS_API_KEY and MERCHANT_PAYMENTS_API_SECRET: those of this mock.
const client = PaymentClient.fromEnv({ baseUrl: '${window.location.origin}' });
const { payment } = await client.payments.create({
  merchantPaymentReference: 'order-1001',
  amount: 2500,
  currency: 'EUR',
});
console.log(payment.referenceNumber, payment.status);
`;
  return (
    <div class="empty">
      <p>
        Nothing has happened yet. What your code sends, and what your endpoint is sent, appears
        here, one line each.
      </p>
      <RawText label="With the client" text={snippet} />
      <CopyButton label="Copy" text={snippet} />
    </div>
  );
}

function Older({ state }: { state: ControlState }) {
  const { counts, payments, requests, deliveries } = state;
  const isAll =
    counts.payments === payments.length &&
    counts.requests === requests.length &&
    counts.deliveries === deliveries.length;
  if (isAll) return null;
  return (
    <p class="muted empty">
      The newest 200 payments, requests and callbacks are shown, of{' '}
      {counts.payments.toLocaleString()}, {counts.requests.toLocaleString()} and{' '}
      {counts.deliveries.toLocaleString()}.
    </p>
  );
}

/** Tells a screen reader of the newest event. */
function Announcement({ line }: { line: Line | undefined }) {
  return (
    <p class="visually-hidden" role="status">
      {line && `${line.what} ${line.order}: ${line.answer.text}`}
    </p>
  );
}

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element with the id app');
start();
render(<App />, root);
