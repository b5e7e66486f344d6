import type { ClientCalls } from './client-worker.js';
import type { Holdings } from './measure.js';
import type { ReceiverCalls } from './receiver-worker.js';
import type { ServiceCalls } from './service-worker.js';
import type { WorkerProcess } from './worker-process.js';

/** What is measured, in this order. */
export const PROCESSES = ['client', 'service', 'service, reset', 'receiver'] as const;

/** What the three processes held at one moment. */
export interface Snapshot {
  readonly client: Holdings;
  /** With the payments and logs of a round. */
  readonly service: Holdings;
  /** With nothing: after `reset()`. */
  readonly 'service, reset': Holdings;
  readonly receiver: Holdings;
  /** What the service keeps of a round. */
  readonly kept: Awaited<ReturnType<ServiceCalls['kept']>>;
}

/** The processes of a run. */
export interface Workers {
  readonly client: WorkerProcess<ClientCalls>;
  readonly service: WorkerProcess<ServiceCalls>;
  readonly receiver: WorkerProcess<ReceiverCalls>;
}

/** Measures the processes when they have come to rest, and has the service begin anew. */
export async function takeSnapshot({ client, service, receiver }: Workers): Promise<Snapshot> {
  const [ofClient, ofService, ofReceiver] = await Promise.all([
    client.call('measure'),
    service.call('measure'),
    receiver.call('measure'),
  ]);
  const kept = await service.call('kept');
  await service.call('forget');
  const ofReset = await service.call('measure');
  return {
    client: ofClient,
    service: ofService,
    'service, reset': ofReset,
    receiver: ofReceiver,
    kept,
  };
}
