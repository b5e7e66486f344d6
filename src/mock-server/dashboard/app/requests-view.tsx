import { answerLine } from '../../callbacks/answer-hints.js';
import type { ControlRequest } from '../../control/control-types.js';
import { Page } from './controls.js';
import { Filters, List, SearchBox } from './list.js';
import { toHash } from './route.js';
import type { Snapshot } from './state.js';
import { Badge, Body, Details, FaultBadge, Headers } from './texts.js';
import { Time } from './time.js';

const outcomes: Readonly<Record<ControlRequest['outcome'], string>> = {
  lost: 'Lost',
  refused: 'Refused',
  accepted: 'Accepted',
  waiting: 'Waiting',
};

/** What your code sent, and what it got. */
export function RequestsView(props: { data: Snapshot; outcome: string | undefined }) {
  const { data, outcome } = props;
  const { requests: list } = data.lists;
  const { requests: search } = data.searches;
  const isNarrowed = Boolean(search) || outcome !== undefined;
  return (
    <Page title="Requests" class="fill">
      <div class="tools">
        <SearchBox name="requests" search={search} />
        <Filters view="requests" chosen={outcome} names={outcomes} />
      </div>
      <List
        name="requests"
        list={list}
        noun="request"
        order={search ? 'best match first' : 'newest first'}
        isNarrowed={isNarrowed}
        empty={
          <>
            No request yet. Set your client’s <code>baseUrl</code> to{' '}
            <code>{window.location.origin}</code>, and its requests appear here.
          </>
        }
        row={(request) => (
          <li key={request.requestId}>
            <Request request={request} />
          </li>
        )}
      />
    </Page>
  );
}

interface RequestProps {
  readonly request: ControlRequest;
  /** Whether it leads to the payment that it created. */
  readonly isLinked?: boolean;
}

/** A request and its answer side by side: a line that opens to show both. */
export function Request({ request, isLinked = true }: RequestProps) {
  const { method, path, at, merchantPaymentReference, fault } = request;
  const { headers, body, requestId, referenceNumber, authenticated } = request;
  return (
    <Details
      class="row-details"
      isRow
      summary={
        <>
          <span class="sent">
            <bdi class="request-line">
              {method} {path}
            </bdi>
            <bdi class="reference">{merchantPaymentReference}</bdi>
          </span>
          <span class="got">
            <Outcome request={request} />
            <FaultBadge fault={fault} />
          </span>
          <Time at={at} />
        </>
      }
    >
      <div class="details-body sides">
        <div>
          <strong>Your code sent</strong>
          <Body label="Body" text={body} />
          <Headers headers={headers} />
          <p class="muted">
            {authenticated ? 'With the mock’s credentials' : 'Without the mock’s credentials'},
            which are not kept. Request <code>{requestId}</code>
          </p>
        </div>
        <div>
          <strong>Your code got</strong>
          <Answer request={request} />
          {isLinked && referenceNumber !== undefined && (
            <p>
              <a href={toHash('payments', referenceNumber)}>The payment {referenceNumber}</a>
            </p>
          )}
        </div>
      </div>
    </Details>
  );
}

function Answer({ request }: { request: ControlRequest }) {
  const { answer, outcome, referenceNumber } = request;
  return (
    <>
      {outcome === 'waiting' && <p class="muted">Nothing yet.</p>}
      {outcome === 'lost' && (
        <p class="finding bad">
          <strong>
            {answer === undefined ? 'No answer.' : 'Withheld: your code did not get this.'}
          </strong>{' '}
          {referenceNumber === undefined
            ? 'No payment was created, but your code cannot know.'
            : 'The payment exists, but your code cannot know. Its callback or a look-up tells your code; a second request creates a second payment.'}
        </p>
      )}
      {answer !== undefined && (
        <div class={answer.withheld ? 'crossed' : undefined}>
          <Body
            label={`HTTP ${answer.status}${answer.cut ? ', cut off' : ''}`}
            text={answer.body}
          />
          <Headers headers={answer.headers} />
        </div>
      )}
    </>
  );
}

/** What your code got, in a few words. */
function Outcome({ request: { outcome, status, answer } }: { request: ControlRequest }) {
  if (outcome === 'waiting') return <Badge text="waiting" tone="waiting" sign="…" />;
  if (outcome === 'lost') {
    const text = answer === undefined ? 'no answer' : 'withheld: your code did not get this';
    return <Badge text={text} tone="bad" sign="✕" />;
  }
  const isGood = outcome === 'accepted';
  const said = isGood ? undefined : answerLine(answer?.body ?? '');
  return (
    <>
      <Badge text={`HTTP ${status}`} tone={isGood ? 'good' : 'bad'} sign={isGood ? '✓' : '✕'} />
      {said !== undefined && (
        <bdi class="said" title={said}>
          {said}
        </bdi>
      )}
    </>
  );
}
