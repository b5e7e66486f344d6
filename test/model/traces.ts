/** A model: where it starts, which steps can be tried at a place, and where each leads. */
export interface Model<Place, Step> {
  readonly start: Place;
  offers(place: Place): readonly Step[];
  after(place: Place, step: Step): Place;
  /** Whether a store holds the same at both places. */
  isSame(one: Place, other: Place): boolean;
}

/** Traces to replay, and how many different traces of the model end within them. */
export interface Plan<Step> {
  readonly traces: (readonly Step[])[];
  count: number;
}

/** The steps that can be tried at a place: those that change nothing, and those that lead to another place. */
function fork<Place, Step>(model: Model<Place, Step>, place: Place) {
  const idle: Step[] = [];
  const moves: [Step, Place][] = [];
  for (const step of model.offers(place)) {
    const there = model.after(place, step);
    if (model.isSame(place, there)) idle.push(step);
    else moves.push([step, there]);
  }
  return { idle, moves };
}

/**
 * Every trace of so many steps. A step that changes nothing is tried at each place, one after another in one replay;
 * nothing follows it, since what does is a trace without it.
 */
export function tracesTo<Place, Step>(model: Model<Place, Step>, depth: number): Plan<Step> {
  const plan: Plan<Step> = { traces: [], count: 0 };
  const walk = (path: readonly Step[], place: Place): void => {
    const { idle, moves } = fork(model, place);
    plan.count += idle.length + moves.length;
    if (idle.length > 0) plan.traces.push([...path, ...idle]);
    for (const [step, there] of moves) {
      if (path.length + 1 === depth) plan.traces.push([...path, step]);
      else walk([...path, step], there);
    }
  };
  walk([], model.start);
  return plan;
}

/** Every step at every place that any number of steps leads to, each by a shortest way there. */
export function everyStep<Place, Step>(
  model: Model<Place, Step>,
): Plan<Step> & { readonly steps: [Place, Step][] } {
  const plan = { traces: [] as (readonly Step[])[], count: 0, steps: [] as [Place, Step][] };
  const nameOf = (place: Place) => JSON.stringify(place);
  const seen = new Set([nameOf(model.start)]);
  const waiting: [readonly Step[], Place][] = [[[], model.start]];
  // Grows as it is walked.
  for (const [path, place] of waiting) {
    const { idle, moves } = fork(model, place);
    plan.count += idle.length + moves.length;
    for (const step of [...idle, ...moves.map(([move]) => move)]) plan.steps.push([place, step]);
    if (idle.length > 0) plan.traces.push([...path, ...idle]);
    for (const [step, there] of moves) {
      const trace = [...path, step];
      if (seen.has(nameOf(there))) plan.traces.push(trace);
      else waiting.push([trace, there]);
      seen.add(nameOf(there));
    }
  }
  return plan;
}
