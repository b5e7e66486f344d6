import { parseStrictly } from '../../protocol/strict-schema.js';
import type { PlainAnswer } from '../api/http-messages.js';
import type { Delivery } from '../callbacks/delivery.js';
import type { CallbackDispatcher } from '../callbacks/dispatcher.js';
import type { MockService } from '../mock-service.js';
import { callbackGroups, changeOf, countGroups, groupCallbacks } from './callback-groups.js';
import * as bodies from './control-bodies.js';
import {
  type ControlCall,
  ControlFailure,
  controlAnswer,
  type Route,
  readLimit,
} from './control-call.js';
import type { ControlCallbackPage, ControlResendSummary } from './control-types.js';
import { viewCallback } from './control-view.js';

/** How many payments have their callbacks resent at a time. */
const RESENT_AT_ONCE = 8;

interface CallbackSource {
  readonly service: MockService;
  readonly dispatcher: CallbackDispatcher;
}

/** The part of the control interface that lists callbacks by how they ended, and resends a group of them. */
export function callbackRoutes({ service, dispatcher }: CallbackSource): readonly Route[] {
  let isResending = false;

  function list({ query }: ControlCall): PlainAnswer {
    const limit = readLimit(query);
    const groups = groupCallbacks(dispatcher.list());
    const wanted = query.get('group');
    const search = query.get('search')?.toLowerCase() ?? '';
    const chosen =
      wanted === null ? callbackGroups : [parseStrictly(bodies.listed, wanted, 'group')];
    const found = chosen.flatMap((group) => {
      const all = groups[group];
      const matching = search === '' ? all : all.filter((one) => isMatch(one, search));
      return matching.map((delivery) => ({ delivery, group }));
    });
    const page: ControlCallbackPage = {
      callbacks: found.slice(0, limit).map(({ delivery, group }) => viewCallback(delivery, group)),
      total: found.length,
      counts: countGroups(groups),
    };
    return controlAnswer(200, page);
  }

  async function resendGroup(call: ControlCall): Promise<PlainAnswer> {
    const { group } = bodies.readBody(bodies.group, call);
    if (service.callbackUrl === undefined) {
      throw new ControlFailure(
        'CONFLICT',
        'There is no callbackUrl, so nothing can be sent; set it first',
      );
    }
    if (isResending) {
      throw new ControlFailure('CONFLICT', 'Callbacks are already being resent; try again later');
    }
    isResending = true;
    try {
      const chosen = groupCallbacks(dispatcher.list())[group];
      const send = ({ id }: Delivery) => service.resend(id);
      return controlAnswer(200, await resendChanges(chosen, send));
    } finally {
      isResending = false;
    }
  }

  return [
    ['GET', '/callbacks', list],
    ['POST', '/callbacks/resend', resendGroup],
  ];
}

function isMatch({ payment, status, state }: Delivery, wanted: string): boolean {
  const { referenceNumber, merchantPaymentReference } = payment;
  return [referenceNumber, merchantPaymentReference, status, state].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

/** Resends each change once: in order for one payment, several payments at a time. */
async function resendChanges(
  newestFirst: readonly Delivery[],
  resend: (delivery: Delivery) => Promise<Delivery>,
): Promise<ControlResendSummary> {
  const changes = new Map(newestFirst.map((delivery) => [changeOf(delivery), delivery]));
  const queues = new Map<string, Delivery[]>();
  for (const delivery of [...changes.values()].reverse()) {
    const queue = queues.get(delivery.referenceNumber) ?? [];
    queues.set(delivery.referenceNumber, [...queue, delivery]);
  }
  const payments = queues.values();
  const summary: ControlResendSummary = { resent: 0, acknowledged: 0 };
  const work = async (): Promise<void> => {
    for (const queue of payments) {
      for (const delivery of queue) {
        const { state } = await resend(delivery);
        summary.resent += 1;
        if (state === 'acknowledged') summary.acknowledged += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: RESENT_AT_ONCE }, work));
  return summary;
}
