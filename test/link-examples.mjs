// The examples of ORMs and queues use the packages of the tests. Node and TypeScript look for packages beside the
// file that imports them.

import { rmSync, symlinkSync } from 'node:fs';

rmSync('../examples/node_modules', { recursive: true, force: true });
symlinkSync('../test/node_modules', '../examples/node_modules', 'junction');
