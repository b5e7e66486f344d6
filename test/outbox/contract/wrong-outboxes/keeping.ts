import type { RequestOptions } from '../../../../src/client/options.js';
import type { UnresolvedOptions } from '../../../../src/outbox/outbox.js';
import type {
  Claim,
  Listed,
  Page,
  Result,
  StoredSecondPayment,
} from '../../../../src/outbox/store.js';
import type { CreatePaymentInput } from '../../../../src/protocol/payment.js';
import { NEVER, RightOutbox, RightStore, type WrongOutbox } from './wrong-outbox.js';

type SecondsPage = Parameters<RightStore['listSecondPayments']>[0];

const LISTED = 'lists unresolved payments, the oldest first, up to the limit';
const PAGES = 'lists more than a page of unresolved payments';
const SECOND_PAGES = 'lists more than a page of second payments, each once';
const PRUNED = 'deletes old created or rejected payments, and no open ones';
const FIRST_PAGE: Page = { olderThanMs: 0, after: undefined, limit: 100 };

export const wrongResolution: readonly WrongOutbox[] = [
  {
    flaw: 'takes what a person found for rejected',
    caughtBy: 'treats a payment that a person found as created',
    says: /replayed must be true; received false/,
    store: class extends RightStore {
      override resolve(key: string) {
        return super.resolve(key, { state: 'rejected', failure: undefined });
      }
    },
  },
  {
    flaw: 'forgets the number that a person found',
    caughtBy: 'treats a payment that a person found as created',
    says: /referenceNumber must be .+; received undefined/,
    store: class extends RightStore {
      override resolve(key: string, { state }: Result) {
        const finding = { referenceNumber: undefined, payment: undefined, updatedAtUs: undefined };
        return super.resolve(key, { state, finding } as Result);
      }
    },
  },
  {
    flaw: 'sends again in recover what a person did not find',
    caughtBy:
      'treats a payment that a person did not find as rejected, and sends it when it is created again',
    says: /state must be rejected; received recorded/,
    store: class extends RightStore {
      override resolve(key: string) {
        return super.resolve(key, { state: 'recorded', failure: undefined });
      }
    },
  },
  {
    flaw: 'says of anything that it is resolved',
    caughtBy: 'resolves only unresolved payments',
    says: /must reject with OUTBOX_STATE/,
    store: class extends RightStore {
      override async resolve(key: string, result: Result) {
        await super.resolve(key, result);
        return true;
      }
    },
  },
];

/** A store of which an entry that ends a page begins the next one too. */
class RepeatingStore extends RightStore {
  #unresolved: Listed | undefined;
  #second: StoredSecondPayment | undefined;
  override async listUnresolved(page: Page) {
    const listed = await super.listUnresolved(page);
    if (page.after === undefined || this.#unresolved === undefined) {
      this.#unresolved = listed.at(-1);
      return listed;
    }
    return [this.#unresolved, ...listed].slice(0, page.limit);
  }
  override async listSecondPayments(page: SecondsPage) {
    const listed = await super.listSecondPayments(page);
    if (page.after === undefined || this.#second === undefined) {
      this.#second = listed.at(-1);
      return listed;
    }
    return [this.#second, ...listed].slice(0, page.limit);
  }
}

/** A store that lists one page. */
class OnePageStore extends RightStore {
  override async listUnresolved(page: Page) {
    return page.after === undefined ? super.listUnresolved(page) : [];
  }
  override async listSecondPayments(page: SecondsPage) {
    return page.after === undefined ? super.listSecondPayments(page) : [];
  }
}

export const wrongLists: readonly WrongOutbox[] = [
  {
    flaw: 'lists the newest first',
    caughtBy: LISTED,
    says: /the oldest must be first/,
    store: class extends RightStore {
      override async listUnresolved(page: Page) {
        return [...(await super.listUnresolved(page))].reverse();
      }
    },
  },
  {
    flaw: 'takes no notice of the limit',
    caughtBy: LISTED,
    says: /limit/,
    outbox: class extends RightOutbox {
      override unresolved(options?: UnresolvedOptions) {
        return super.unresolved({ ...options, limit: undefined });
      }
    },
  },
  {
    flaw: 'takes no notice of the age',
    caughtBy: LISTED,
    says: /olderThanMs/,
    store: class extends RightStore {
      override listUnresolved(page: Page) {
        return super.listUnresolved({ ...page, olderThanMs: 0 });
      }
    },
  },
  {
    flaw: 'lists one that is not unresolved',
    caughtBy: LISTED,
    says: /created/,
    store: class extends RightStore {
      override async listUnresolved(page: Page): Promise<readonly Listed[]> {
        const listed = await super.listUnresolved(page);
        return listed.map(({ key, stored }) => ({ key, stored: { ...stored, state: 'created' } }));
      }
    },
  },
  { flaw: 'lists one page', caughtBy: PAGES, says: /100 !== 130/, store: OnePageStore },
  {
    flaw: 'lists the last of a page again on the next',
    caughtBy: PAGES,
    says: /131|130 !== 131/,
    store: RepeatingStore,
  },
  {
    flaw: 'lists one page of second payments',
    caughtBy: SECOND_PAGES,
    says: /Expected values/,
    store: OnePageStore,
  },
  {
    flaw: 'lists the last of a page of second payments again on the next',
    caughtBy: SECOND_PAGES,
    says: /Expected values/,
    store: RepeatingStore,
  },
];

export const wrongPruning: readonly WrongOutbox[] = [
  {
    flaw: 'forgets nothing',
    caughtBy: PRUNED,
    says: /prune deleted only 0/,
    store: class extends RightStore {
      override async prune() {
        return 0;
      }
    },
  },
  {
    flaw: 'forgets what is not old',
    caughtBy: PRUNED,
    says: /prune deleted a payment that is not old/,
    store: class extends RightStore {
      override prune() {
        return super.prune(NEVER);
      }
    },
  },
  {
    flaw: 'forgets what is unresolved',
    caughtBy: PRUNED,
    says: /does not know the payment/,
    store: class extends RightStore {
      override async prune(olderThan: Date) {
        for (const { key } of await super.listUnresolved(FIRST_PAGE)) {
          await super.resolve(key, { state: 'rejected', failure: undefined });
        }
        return super.prune(olderThan);
      }
    },
  },
  {
    flaw: 'keeps second payments',
    caughtBy: PRUNED,
    says: /the second payment is still listed/,
    store: class extends RightStore {
      #seconds: readonly StoredSecondPayment[] = [];
      override async prune(olderThan: Date) {
        this.#seconds = await super.listSecondPayments({ after: undefined, limit: 100 });
        return super.prune(olderThan);
      }
      override async listSecondPayments() {
        return this.#seconds;
      }
    },
  },
];

/** An outbox that keeps a reference under another name. */
function naming(rename: (reference: string) => string): typeof RightOutbox {
  return class extends RightOutbox {
    override create(input: CreatePaymentInput, options?: RequestOptions) {
      const merchantPaymentReference = rename(input.merchantPaymentReference);
      return super.create({ ...input, merchantPaymentReference }, options);
    }
    override get(reference: string) {
      return super.get(rename(reference));
    }
  };
}

const renames: readonly (readonly [string, (reference: string) => string])[] = [
  ['trims a reference', (reference) => reference.trim()],
  ['takes no notice of case', (reference) => reference.toLowerCase()],
  ['composes letters and accents', (reference) => reference.normalize('NFC')],
  ['cuts off what is long', (reference) => reference.slice(0, 4_000)],
];

export const wrongNames: readonly WrongOutbox[] = [
  ...renames.map(([flaw, rename]) => ({
    flaw,
    caughtBy: 'distinguishes payments whatever characters their references contain',
    says: /Another payment is stored/,
    outbox: naming(rename),
  })),
  {
    flaw: 'leaves out what its database can not store',
    caughtBy: 'keeps a request unchanged',
    says: /text/,
    store: class extends RightStore {
      override claim(claim: Claim) {
        const body = claim.intent?.body.replaceAll('\\u0000', '');
        const intent = claim.intent && { ...claim.intent, body: body as string };
        return super.claim({ ...claim, intent });
      }
    },
  },
];
