import { openPglite } from '../../inbox/postgres/open-pglite.js';

const database = await openPglite();

// What the samples get for `pg`: a Postgres within the process, for every pool.
export default {
  Pool: function Pool() {
    return database;
  },
};
