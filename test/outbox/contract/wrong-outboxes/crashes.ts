import type { Recovery } from '../../../../src/outbox/outbox.js';
import type { Claim, Intent, Page, Result } from '../../../../src/outbox/store.js';
import { GrantingStore } from './creation.js';
import { ForgivingStore } from './settling.js';
import { RightOutbox, RightStore, type WrongOutbox } from './wrong-outbox.js';

const DIED = 'treats a payment whose sender died as unresolved, and does not send it again';
const COUNTED = 'counts a payment that became unresolved by a crash once in recover';
const SENT = 'sends recorded payments in recover, each once across processes';
const LEFT = "keeps payments that can't be sent now for a later recover";
const FIRST_PAGE: Page = { olderThanMs: 0, after: undefined, limit: 100 };

/** A store that takes the word of a sender which lost the payment, with one of these results. */
function believing(...states: readonly Result['state'][]): typeof RightStore {
  return class extends RightStore {
    readonly #intents = new Map<string, Intent>();
    override claim(claim: Claim) {
      if (claim.intent !== undefined) this.#intents.set(claim.key, claim.intent);
      return super.claim(claim);
    }
    override async finish(key: string, owner: string, result: Result) {
      const stored = await super.finish(key, owner, result);
      const intent = this.#intents.get(key);
      if (stored !== undefined || intent === undefined) return stored;
      return states.includes(result.state) ? this.overwrite(key, intent, result) : undefined;
    }
  };
}

export const wrongCrashes: readonly WrongOutbox[] = [
  {
    flaw: 'gives to the next sender what a dead one was sending',
    caughtBy: DIED,
    says: /state must be unresolved; received created/,
    store: class extends RightStore {
      override async claim(claim: Claim) {
        await super.resolve(claim.key, { state: 'recorded', failure: undefined });
        return super.claim(claim);
      }
    },
  },
  {
    flaw: 'sends in recover what a dead sender was sending',
    caughtBy: DIED,
    says: /state must be unresolved; received created/,
    store: class extends RightStore {
      override async expire() {
        await super.expire();
        const lost = await super.listUnresolved(FIRST_PAGE);
        for (const { key } of lost) {
          await super.resolve(key, { state: 'recorded', failure: undefined });
        }
        return lost.length;
      }
    },
  },
  {
    flaw: 'lists as unresolved only what recover found',
    caughtBy: DIED,
    says: /it is not listed/,
    store: class extends RightStore {
      override async listUnresolved() {
        return [];
      }
    },
  },
  {
    flaw: 'does not count what a crash left',
    caughtBy: COUNTED,
    says: /recover must count it/,
    store: class extends RightStore {
      override async expire() {
        await super.expire();
        return 0;
      }
    },
  },
  {
    flaw: 'counts what is unresolved at each pass',
    caughtBy: COUNTED,
    says: /recover must not count it again/,
    store: class extends RightStore {
      override async expire() {
        await super.expire();
        return (await super.listUnresolved(FIRST_PAGE)).length;
      }
    },
  },
  {
    flaw: 'does not listen to a sender whose lease has run out',
    caughtBy: 'stores the late result of a sender that counted as dead, if nothing newer is stored',
    says: /state must be rejected; received unresolved/,
    store: class extends RightStore {
      override async finish(key: string, owner: string, result: Result) {
        const stored = await this.read(key);
        return stored?.state === 'sending' ? super.finish(key, owner, result) : undefined;
      }
    },
  },
  ...(['recorded', 'rejected', 'unresolved'] as const).map((state) => ({
    flaw: `believes a sender that says ${state} more than a callback`,
    caughtBy: 'does not let the late result of a sender overwrite that of a callback',
    says: state === 'unresolved' ? /state must be created; received unresolved/ : /\./,
    store: believing(state),
  })),
  {
    flaw: 'believes a sender more than a person',
    caughtBy: 'does not let the late result of a sender overwrite that of a person',
    says: /state must be rejected; received recorded/,
    store: believing('recorded'),
  },
  {
    flaw: 'drops the payment of a sender that was taken for dead',
    caughtBy: 'does not lose a payment that a sender created although it counted as dead',
    says: /it is not listed/,
    store: ForgivingStore,
  },
];

export const wrongRecovery: readonly WrongOutbox[] = [
  {
    flaw: 'does not find what is recorded',
    caughtBy: SENT,
    says: /recover sent 0 of 12/,
    store: class extends RightStore {
      override async listRecorded() {
        return [];
      }
    },
  },
  {
    flaw: 'sends what another process is sending',
    caughtBy: SENT,
    says: /it must be sent once/,
    store: GrantingStore,
  },
  {
    flaw: 'does not count what it sent without learning the outcome',
    caughtBy: 'counts payments with an unknown outcome in recover',
    says: /unresolved: 0/,
    outbox: class extends RightOutbox {
      override async recover() {
        return { ...(await super.recover()), unresolved: 0 };
      }
    },
  },
  ...(['"not-sent"', '"httpStatus":429'] as const).map((mark) => ({
    flaw: `gives up what ended with ${mark}`,
    caughtBy: LEFT,
    says: /state must be recorded; received rejected/,
    store: class extends RightStore {
      override finish(key: string, owner: string, result: Result) {
        const { failure } = result;
        const isMeant = failure?.includes(mark) ?? false;
        return super.finish(key, owner, isMeant ? { state: 'rejected', failure } : result);
      }
    },
  })),
  {
    flaw: 'sends what was rejected since it was listed',
    caughtBy: 'does not send a payment in recover that was rejected after it was listed',
    says: /state must be rejected; received created/,
    store: class extends RightStore {
      override claim(claim: Claim) {
        return super.claim({ ...claim, allowsRejected: true });
      }
    },
  },
  {
    flaw: 'stops at a payment that the service does not accept',
    caughtBy: 'continues recover after a payment that the service rejects',
    says: /422/,
    outbox: class extends RightOutbox {
      override async recover(): Promise<Recovery> {
        const listed = await this.store.listRecorded(FIRST_PAGE);
        for (const { stored } of listed) {
          await this.send(JSON.parse(stored.body).merchantPaymentReference);
        }
        return { resent: listed.length, unresolved: 0 };
      }
    },
  },
];
