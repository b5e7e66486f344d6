import type { EndpointCheck, EndpointCheckId } from './report.js';
import type { CheckVerdict } from './verdict.js';

/** What explains a failure: if one of these checks failed, this one is skipped, because it has the same cause. */
const explanations: Readonly<Partial<Record<EndpointCheckId, readonly EndpointCheckId[]>>> = {
  'tampered-body': ['wrong-secret'],
  'missing-signature': ['wrong-secret'],
  'changed-timestamp': ['wrong-secret'],
  'altered-signature': ['wrong-secret'],
  'malformed-body': ['missing-signature'],
  'stale-timestamp': ['wrong-secret'],
  'future-timestamp': ['wrong-secret'],
  simultaneous: ['duplicate'],
  'older-change': ['unknown-status'],
  'unknown-status-effect': ['valid-effect'],
  'duplicate-effect': ['valid-effect'],
  'simultaneous-effect': ['duplicate-effect'],
  'resigned-retry-effect': ['duplicate', 'duplicate-effect'],
  'second-change-effect': ['valid-effect', 'unknown-status', 'unknown-status-effect'],
  'older-change-effect': ['valid-effect', 'unknown-status-effect'],
  'late-paid-effect': ['second-change-effect'],
};

/** Finds the common cause of what would otherwise be many failures. */
export class Causes {
  readonly #ended = new Map<EndpointCheckId, EndpointCheck>();
  readonly #lesser = new Set<EndpointCheckId>();
  #fatal: Pick<EndpointCheck, 'id' | 'detail'> | undefined;

  /** Adds a check that has ended. */
  add(check: EndpointCheck, { isLesser, isFatal }: CheckVerdict): void {
    this.#ended.set(check.id, check);
    if (isLesser) this.#lesser.add(check.id);
    if (isFatal) this.end(check);
  }

  /** Ends the run: the other checks are skipped, for this cause. */
  end(cause: Pick<EndpointCheck, 'id' | 'detail'>): void {
    this.#fatal ??= cause;
  }

  /** Returns the failed check that explains this one. */
  of(id: EndpointCheckId): Pick<EndpointCheck, 'id' | 'detail'> | undefined {
    if (this.#fatal !== undefined) return this.#fatal.id === id ? undefined : this.#fatal;
    // Every check of effects needs the probe.
    const probe: readonly EndpointCheckId[] = id.endsWith('-effect') ? ['probe-answers'] : [];
    for (const other of [...probe, ...(explanations[id] ?? [])]) {
      const check = this.#ended.get(other);
      if (check?.outcome === 'failed') return check;
      // A check that was skipped without a failure explains nothing.
      const cause = check?.outcome === 'skipped' ? this.of(other) : undefined;
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  /** Returns the failure to look at first. */
  first(): EndpointCheckId | undefined {
    const failed = [...this.#ended.values()].filter(({ outcome }) => outcome === 'failed');
    return (this.#fatal ?? failed.find(({ id }) => !this.#lesser.has(id)) ?? failed[0])?.id;
  }
}
