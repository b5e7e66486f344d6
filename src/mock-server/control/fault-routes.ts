import type { PlainAnswer } from '../api/http-messages.js';
import type { Fault } from '../faults/fault.js';
import type { FaultList } from '../faults/fault-list.js';
import { type ControlCall, controlAnswer, notFound, type Route } from './control-call.js';
import type { ControlFaults } from './control-types.js';
import { UNLIMITED, viewFault } from './control-view.js';

export const viewFaults = (faults: FaultList): ControlFaults => ({
  faults: faults.list().map(viewFault),
});

/** The part of the control interface that lists and changes faults. */
export function faultRoutes(faults: FaultList): readonly Route[] {
  const show = (status = 200) => controlAnswer(status, viewFaults(faults));

  function add({ body }: ControlCall): PlainAnswer {
    const times = body['times'] === UNLIMITED ? Number.POSITIVE_INFINITY : body['times'];
    faults.add({ ...body, times } as Fault);
    return show(201);
  }
  function clear(): PlainAnswer {
    faults.clear();
    return show();
  }
  function remove(_call: ControlCall, id: string): PlainAnswer {
    if (!faults.remove(id)) throw notFound('fault', id);
    return show();
  }
  return [
    ['GET', '/faults', () => show()],
    ['POST', '/faults', add],
    ['DELETE', '/faults', clear],
    ['DELETE', '/faults/:id', remove],
  ];
}
