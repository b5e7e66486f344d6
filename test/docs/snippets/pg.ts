import { openPglite } from '../../pglite.js';

// A pool's `on` is all that PGlite lacks of what the samples use.
const database = Object.assign(await openPglite(), { on() {} });

// What the samples get for `pg`: a Postgres within the process, for every pool.
export default {
  Pool: function Pool() {
    return database;
  },
};
