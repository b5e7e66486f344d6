import type { ControlState } from '../../control/control-types.js';
import { CallbackRow } from './callbacks-view.js';
import { Card } from './controls.js';
import { writeCount } from './format.js';
import { Request } from './requests-view.js';
import { toHash } from './route.js';
import type { Troubles } from './state.js';
import { StatusBadge } from './texts.js';
import { Time } from './time.js';

/** As many of each kind as fit without scrolling. */
const SHOWN = 6;

interface OverviewProps {
  readonly service: ControlState;
  readonly troubles: Troubles | undefined;
}

/** Shown while no payment is open: what went wrong. */
export function Overview({ service, troubles }: OverviewProps) {
  const { callbacks, secondPayments } = service.counts;
  const { callbacks: failed, payments, requests } = troubles ?? nothing;
  return (
    <section class="overview" aria-labelledby="overview-title">
      <h2 id="overview-title">Overview</h2>
      {payments.length > 0 && (
        <Card title={`Second payments for one reference: ${writeCount(secondPayments)}`}>
          <ul class="rows seconds">
            {payments.slice(0, SHOWN).map((payment) => (
              <li key={payment.referenceNumber}>
                <a class="reference" href={toHash('payments', payment.referenceNumber)}>
                  <bdi>{payment.merchantPaymentReference}</bdi>
                </a>
                <StatusBadge status={payment.status} />
                <span class="muted">
                  after <a href={toHash('payments', payment.secondOf)}>the first one</a>
                </span>
                <Time at={payment.createdAt} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {failed.length > 0 && (
        <Card title="Failed callbacks" class="attention">
          <ul class="rows callbacks">
            {failed.slice(0, SHOWN).map((callback) => (
              <CallbackRow key={callback.id} callback={callback} />
            ))}
          </ul>
          {callbacks.failed > SHOWN && (
            <a href={toHash('callbacks', 'failed')}>
              All {writeCount(callbacks.failed)} failed callbacks
            </a>
          )}
        </Card>
      )}
      {requests.length > 0 && (
        <Card title="Requests that failed">
          <ul class="rows requests">
            {requests.slice(0, SHOWN).map((request) => (
              <li key={request.requestId}>
                <Request request={request} />
              </li>
            ))}
          </ul>
          <a href={toHash('requests')}>All requests</a>
        </Card>
      )}
      {troubles !== undefined && failed.length + payments.length + requests.length === 0 && (
        <p class="calm good">
          <span aria-hidden="true">✓ </span>Nothing has failed. Choose a payment to see its request,
          its callbacks and every attempt to deliver them.
        </p>
      )}
      <Dropped dropped={service.dropped} />
    </section>
  );
}

const nothing: Troubles = { callbacks: [], payments: [], requests: [] };

/** Shown when the mock has reached a limit, as that explains what is missing. */
function Dropped({ dropped }: Pick<ControlState, 'dropped'>) {
  const counts = Object.entries(dropped)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${writeCount(count)} ${kind}`);
  if (counts.length === 0) return null;
  return (
    <p class="muted">
      The mock has reached a limit and dropped the oldest: {counts.join(', ')}. Reset it to start
      again.
    </p>
  );
}
