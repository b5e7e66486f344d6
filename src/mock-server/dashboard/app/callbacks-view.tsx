import { useMemo } from 'preact/hooks';
import type { CallbackGroup } from '../../control/callback-groups.js';
import type { CallbackCounts, ControlCallback } from '../../control/control-types.js';
import { CallbackState, describeLast, ResendGroup, ResendOne } from './callback-results.js';
import { SearchBox } from './field.js';
import { writeCount, writeLatency } from './format.js';
import { HeldList, ListHead } from './held-list.js';
import { type CallbackRows, liveData, type Snapshot } from './live-data.js';
import { callbackGroupLabels, groupNames, toHash } from './route.js';
import { Badge, StatusBadge } from './text.js';
import { Time } from './time.js';

interface CallbacksViewProps {
  readonly data: Snapshot;
  readonly group: CallbackGroup | undefined;
}

/** Every callback, failures first. */
export function CallbacksView({ data, group }: CallbacksViewProps) {
  const { callbacks, callbackSearch: search } = data;
  const counts = data.service?.counts.callbacks;
  const resendable = group === 'not-sent' ? group : 'failed';
  return (
    <section class="page wide fill" aria-labelledby="callbacks-title">
      <div class="page-head">
        <h2 id="callbacks-title">Callbacks</h2>
        {counts !== undefined && <Filters counts={counts} group={group} />}
        <SearchBox search={search} onSearch={(text) => liveData.searchCallbacks(text)} />
        <ResendGroup key={group} group={resendable} count={counts?.[resendable] ?? 0} />
      </div>
      {callbacks === undefined ? (
        <p>Loading…</p>
      ) : (
        <List callbacks={callbacks} isNarrowed={search !== '' || group !== undefined} />
      )}
    </section>
  );
}

function Filters({ counts, group }: { counts: CallbackCounts; group: CallbackGroup | undefined }) {
  const total = groupNames.reduce((sum, name) => sum + counts[name], 0);
  const filters = [
    { name: undefined, label: 'All', count: total },
    ...groupNames.map((name) => ({
      name,
      label: callbackGroupLabels[name],
      count: counts[name],
    })),
  ];
  return (
    <nav class="filters" aria-label="Filter callbacks">
      <ul>
        {filters.map(({ name, label, count }) => (
          <li key={label}>
            <a
              href={toHash({ view: 'callbacks', group: name })}
              aria-current={name === group ? 'page' : undefined}
              class={name === 'failed' && count > 0 ? 'has-failures' : undefined}
            >
              {label} <span class="count">{writeCount(count)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function List({ callbacks, isNarrowed }: { callbacks: CallbackRows; isNarrowed: boolean }) {
  const { rows } = callbacks;
  if (rows.length === 0) {
    return (
      <p class="empty">
        {isNarrowed ? 'No callbacks match.' : 'No callback yet: set the status of a payment.'}
      </p>
    );
  }
  return (
    <>
      <ListHead
        list={callbacks}
        nouns={['callback', 'callbacks']}
        order="failures first"
        isSearch={isNarrowed}
      />
      <HeldList hasSelection={false}>
        <table class="callbacks">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Payment</th>
              <th scope="col">Status</th>
              <th scope="col">Last answer</th>
              <th scope="col" class="wide-only">
                Attempts
              </th>
              <th scope="col" class="wide-only">
                Latency
              </th>
              <th scope="col" class="wide-only">
                Fault
              </th>
              <th scope="col" class="wide-only">
                Sent
              </th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((callback) => (
              <Row key={callback.id} callback={callback} />
            ))}
          </tbody>
        </table>
      </HeldList>
    </>
  );
}

function Row({ callback }: { callback: ControlCallback }) {
  const { referenceNumber, merchantPaymentReference, status, last, group, edited } = callback;
  const answer = describeLast(callback);
  // As for payments: of a hundred rows, few change at a time.
  return useMemo(
    () => (
      <tr>
        <td>
          <CallbackState callback={callback} />
        </td>
        <th scope="row">
          <a data-row href={toHash({ view: 'payments', referenceNumber })}>
            <bdi>{merchantPaymentReference}</bdi>
          </a>
        </th>
        <td>
          <StatusBadge status={status} />
        </td>
        <td class={group === 'failed' ? 'bad-text' : undefined}>
          {answer}
          {edited !== undefined && ', edited'}
        </td>
        <td class="wide-only">{last?.attempt ?? 0}</td>
        <td class="wide-only">{last !== undefined && writeLatency(last.latencyMs)}</td>
        <td class="wide-only">
          {last?.fault !== undefined && <Badge text={last.fault} tone="waiting" />}
        </td>
        <td class="wide-only">
          <Time at={last?.sentAt ?? callback.updatedAt} />
        </td>
        <td>
          <ResendOne callback={callback} />
        </td>
      </tr>
    ),
    [callback.id, callback.state, group, last?.sentAt, edited],
  );
}
