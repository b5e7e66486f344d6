import { useMemo } from 'preact/hooks';
import type { ControlCallback } from '../../control/control-types.js';
import { control } from './control-client.js';
import { ActionStatus, Button, Page, useAction } from './controls.js';
import {
  callbackGroups,
  deliveryStates,
  describeResponse,
  describeResult,
} from './delivery-text.js';
import { Filters, List, SearchBox } from './list.js';
import { toHash } from './route.js';
import type { Snapshot } from './state.js';
import { Badge, FaultBadge, StatusBadge } from './texts.js';
import { Time } from './time.js';

/** Every callback, failures first. */
export function CallbacksView(props: { data: Snapshot; group: string | undefined }) {
  const { data, group } = props;
  const { callbacks: list } = data.lists;
  const { callbacks: search } = data.searches;
  const counts = data.service?.counts.callbacks;
  const isNarrowed = Boolean(search) || group !== undefined;
  return (
    <Page title="Callbacks" class="fill">
      <div class="tools">
        <SearchBox name="callbacks" search={search} />
        <Filters view="callbacks" chosen={group} names={callbackGroups} counts={counts} />
      </div>
      <List
        name="callbacks"
        list={list}
        noun="callback"
        order="failures first"
        isNarrowed={isNarrowed}
        empty="No callback yet: set the status of a payment."
        row={(callback) => <CallbackRow key={callback.id} callback={callback} />}
      />
    </Page>
  );
}

/** A callback and why it failed, in one line. */
export function CallbackRow({ callback }: { callback: ControlCallback }) {
  const { id, referenceNumber, merchantPaymentReference, status, last, group, edited } = callback;
  // Of a hundred rows, few change at a time.
  return useMemo(
    () => (
      <li>
        <CallbackState callback={callback} />
        <a class="reference" data-row href={toHash('payments', referenceNumber)}>
          <bdi>{merchantPaymentReference}</bdi>
        </a>
        <StatusBadge status={status} />
        <span class="reason">
          <Reason callback={callback} />
          {edited !== undefined && <span class="muted">edited</span>}
        </span>
        <ResendOne callback={callback} />
      </li>
    ),
    [id, callback.state, group, last?.sentAt, edited],
  );
}

/** What the endpoint answered, or else what that usually means, and the fault that the mock applied. */
function Reason({ callback: { last, group, state } }: { callback: ControlCallback }) {
  if (last === undefined) return <span class="muted">{deliveryStates[state].sentence}</span>;
  const said = last.answerLine ?? last.hint;
  const text = describeResponse(last);
  return (
    <>
      <strong class={group === 'failed' ? 'bad-text' : undefined}>
        {group === 'failed' && state === 'acknowledged' ? 'accepted a forged callback' : text}
      </strong>
      <Time at={last.sentAt} />
      <FaultBadge fault={last.fault} />
      {last.attempt > 1 && <span class="muted">try {last.attempt}</span>}
      {said !== undefined && (
        <bdi class="said" title={said}>
          {said}
        </bdi>
      )}
    </>
  );
}

/** The state of a callback. Failures are red, even if a retry is due. */
function CallbackState({ callback: { state, group } }: { callback: ControlCallback }) {
  const { text, sign, tone } = deliveryStates[state];
  const settled = group === 'done' && tone === 'bad' ? 'neutral' : tone;
  return <Badge text={text} tone={group === 'failed' ? 'bad' : settled} sign={sign} />;
}

function ResendOne({ callback }: { callback: ControlCallback }) {
  const action = useAction();
  const resend = () => void action.run(() => control.resendDelivery(callback.id), describeResult);
  return (
    <span data-resend>
      <Button isSmall action={action} onClick={resend}>
        Resend<span class="visually-hidden"> {callback.merchantPaymentReference}</span>
      </Button>
      <span class="visually-hidden">
        <ActionStatus action={action} />
      </span>
    </span>
  );
}
