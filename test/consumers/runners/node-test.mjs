// The names that Jest and vitest have, by node:test.
import { after, before, test } from 'node:test';

Object.assign(globalThis, { test, beforeAll: before, afterAll: after });
