import { matching, type Rule } from '../../protocol/options.js';

const PLAIN = /^(?!sqlite_)[a-z_][a-z0-9_]{0,39}$/i;

/** What the names of tables begin with. */
export const tablePrefix: Rule<string> = /* @__PURE__ */ matching(
  '1 to 40 ASCII letters, digits and underscores, not starting with a digit or sqlite_',
  (prefix: unknown) => typeof prefix === 'string' && PLAIN.test(prefix),
);
