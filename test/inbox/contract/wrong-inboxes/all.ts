import { wrongCrashes } from './crashes.js';
import { wrongFailures } from './failures.js';
import { wrongKeepers } from './kept-failures.js';
import { wrongNames } from './names.js';
import { wrongOrder } from './order.js';
import { wrongOverlap } from './overlap.js';
import { wrongRuns } from './runs.js';
import { wrongStale, wrongTurns } from './stale.js';
import type { WrongInbox } from './wrong-inbox.js';

export const wrongInboxes: readonly WrongInbox[] = [
  ...wrongRuns,
  ...wrongFailures,
  ...wrongOrder,
  ...wrongStale,
  ...wrongOverlap,
  ...wrongTurns,
  ...wrongCrashes,
  ...wrongNames,
  ...wrongKeepers,
];
