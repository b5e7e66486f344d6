import type { ControlRequest, ControlRequestPage } from '../../control/control-types.js';
import { Page } from './section.js';
import { Badge, Body, Details, Headers } from './text.js';
import { Time } from './time.js';

export function RequestsView({ page }: { page: ControlRequestPage | undefined }) {
  return (
    <Page title="Requests">
      <p class="muted">
        What your code sent to the merchant API, newest first. The Authorization header and cookies
        are not kept.
      </p>
      {page === undefined ? <p>Loading…</p> : <Rows {...page} />}
    </Page>
  );
}

function Rows({ requests, total }: ControlRequestPage) {
  if (requests.length === 0) {
    return (
      <p class="empty">
        No request yet. Set your client’s <code>baseUrl</code> to{' '}
        <code>{window.location.origin}</code>, and its requests appear here.
      </p>
    );
  }
  return (
    <>
      {total > requests.length && (
        <p class="muted">
          The last {requests.length} of {total}.
        </p>
      )}
      <ul class="rows">
        {requests.map((request) => (
          <li key={request.requestId}>
            <Row request={request} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Row({ request }: { request: ControlRequest }) {
  const { method, path, status, fault, authenticated, at, body, headers, requestId } = request;
  const reference = readReference(body);
  return (
    <Details
      class="row-details"
      summary={
        <>
          <span class="request-line">
            <bdi>
              {method} {path}
            </bdi>
          </span>
          <span class="facts">
            {reference !== undefined && <bdi class="reference">{reference}</bdi>}
            <AnswerBadge request={request} />
            {fault !== undefined && <Badge text={`fault: ${fault}`} tone="waiting" />}
            <span class={authenticated ? 'muted' : 'bad-text'}>
              {authenticated ? 'authenticated' : 'not authenticated'}
            </span>
            <Time at={at} />
          </span>
        </>
      }
    >
      <div class="details-body">
        <p class="muted">
          {status === undefined && fault !== undefined && 'The fault withheld the answer. '}
          Request <code>{requestId}</code>
        </p>
        <Headers headers={headers} />
        <Body label="Body" text={body} />
      </div>
    </Details>
  );
}

/** Returns the merchant reference of a creation. */
function readReference(body: string): string | undefined {
  try {
    const { merchantPaymentReference } = JSON.parse(body) ?? {};
    return typeof merchantPaymentReference === 'string' ? merchantPaymentReference : undefined;
  } catch {
    return undefined;
  }
}

function AnswerBadge({ request: { status, ended } }: { request: ControlRequest }) {
  if (status !== undefined) {
    const isGood = status < 400;
    return (
      <Badge text={`HTTP ${status}`} tone={isGood ? 'good' : 'bad'} sign={isGood ? '✓' : '✕'} />
    );
  }
  return ended ? (
    <Badge text="no answer" tone="bad" sign="✕" />
  ) : (
    <Badge text="waiting" tone="waiting" sign="…" />
  );
}
