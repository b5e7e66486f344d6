// Draws what concurrency.mjs measured: a panel for each store and kind, a line for each round trip.

// As wide as the text of a page on a telephone.
const PANEL = { width: 336, height: 220, left: 40, right: 8, top: 34, bottom: 34 };
const LEGEND_LINE = 18;
const NAMES = { postgres: 'Postgres', mysql: 'MySQL' };

const unique = (values) => [...new Set(values)];
const byNumber = (a, b) => a - b;

/** The SVG of one run's points; the axis of the ratio begins at 0 and is the same in all panels. */
export function drawCurves({ date, rows, points }) {
  if (points.length === 0) throw new Error('there is no point to draw');
  const panels = unique(points.map(({ store, kind }) => `${store} ${kind}`));
  const xs = unique(points.map(({ inFlight }) => inFlight)).sort(byNumber);
  const trips = unique(points.map(({ roundTripMs }) => roundTripMs)).sort(byNumber);
  const top = Math.max(1.5, Math.ceil(Math.max(...points.map(({ ratio }) => ratio)) * 2) / 2);
  const { width } = PANEL;
  const bottom = panels.length * PANEL.height;
  const height = bottom + LEGEND_LINE * (trips.length + 1);
  const drawn = panels.map((name, index) => {
    const [store, kind] = name.split(' ');
    const own = points.filter((point) => point.store === store && point.kind === kind);
    return `<g transform="translate(0,${index * PANEL.height})">\n${drawPanel(`${NAMES[store]} ${kind}`, own, { xs, trips, top })}\n</g>`;
  });
  const legend = trips.map((trip, index) => {
    const y = bottom + LEGEND_LINE * (index + 1);
    return `<path class="trip${index}" d="M${PANEL.left} ${y - 4}h24"/><text x="${PANEL.left + 30}" y="${y}">${trip} ms of round trip</text>`;
  });
  const label = `The cost of callbacks and creations by a store as ratios to a transaction by hand, by calls in flight and round trip; ${rows} rows, ${date}; less is better`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<style>
text { font: 12px Helvetica, Arial, 'Liberation Sans', sans-serif; fill: #24292f; }
.title { font-weight: 600; }
path { fill: none; stroke-width: 2; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.one { stroke: #57606a; stroke-width: 1; stroke-dasharray: 4 3; }
.trip0 { stroke: #0969da; } .trip1 { stroke: #9a6700; stroke-dasharray: 8 3; } .trip2 { stroke: #8250df; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .grid { stroke: #30363d; } .one { stroke: #9198a1; }
.trip0 { stroke: #58a6ff; } .trip1 { stroke: #d29922; } .trip2 { stroke: #bc8cff; } }
</style>
${drawn.join('\n')}
${legend.join('\n')}
</svg>
`;
}

function drawPanel(title, points, { xs, trips, top }) {
  const inner = {
    width: PANEL.width - PANEL.left - PANEL.right,
    height: PANEL.height - PANEL.top - PANEL.bottom,
  };
  const x = (inFlight) =>
    Math.round(PANEL.left + (inner.width * xs.indexOf(inFlight)) / Math.max(1, xs.length - 1));
  const y = (ratio) => Math.round(PANEL.top + inner.height * (1 - ratio / top));
  const steps = Array.from({ length: Math.round(top * 2) + 1 }, (_, step) => step / 2);
  const grid = steps.map(
    (step) =>
      `<path class="${step === 1 ? 'one' : 'grid'}" d="M${PANEL.left} ${y(step)}h${inner.width}"/><text x="${PANEL.left - 6}" y="${y(step) + 4}" text-anchor="end">${step}</text>`,
  );
  const ticks = xs.map(
    (inFlight) =>
      `<text x="${x(inFlight)}" y="${PANEL.height - PANEL.bottom + 18}" text-anchor="middle">${inFlight}</text>`,
  );
  const lines = trips.map((trip, index) => {
    const own = points
      .filter(({ roundTripMs }) => roundTripMs === trip)
      .sort((a, b) => a.inFlight - b.inFlight);
    const dots = own.map(({ inFlight, ratio }) => `${x(inFlight)} ${y(ratio)}`);
    return dots.length === 0 ? '' : `<path class="trip${index}" d="M${dots.join('L')}"/>`;
  });
  const heading = `<text class="title" x="${PANEL.left}" y="18">${title}: ratio, by calls in flight</text>`;
  return [heading, ...grid, ...ticks, ...lines].join('\n');
}
