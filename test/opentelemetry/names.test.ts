import { readFileSync } from 'node:fs';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import * as conventions from '@opentelemetry/semantic-conventions';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { HTTP, OWN, SCHEMA_URL } from '../../src/opentelemetry/attributes.js';
import { memoryStore } from '../../src/store/memory.js';
import { createClient, created, order, startRawServer } from '../client/raw-server.js';
import { createScene, post } from '../receiver/scene.js';
import { startTelemetry } from './telemetry.js';

describe('names of the semantic conventions', () => {
  it.each(Object.values(HTTP))('%s is defined', (name) => {
    expect(Object.values(conventions)).toContain(name);
  });

  it('are from the stated version', () => {
    const path = 'node_modules/@opentelemetry/semantic-conventions/package.json';
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
    expect(SCHEMA_URL).toBe(`https://opentelemetry.io/schemas/${version}`);
  });
});

/** What Prometheus calls them: OpenTelemetry's specification "Prometheus and OpenMetrics compatibility". */
async function prometheusNames(): Promise<Set<string>> {
  const { descriptions } = startTelemetry({ store: memoryStore() });
  const server = await startRawServer({ answer: () => created });
  await createClient(server.url).payments.create(order);
  await createScene().receive(post());
  const names = (await descriptions()).flatMap(({ descriptor, dataPointType }) => {
    const { unit } = descriptor;
    const base = toPrometheus(descriptor.name) + (unit === 's' ? '_seconds' : '');
    if (dataPointType === DataPointType.SUM) return [`${base}_total`];
    return dataPointType === DataPointType.HISTOGRAM
      ? ['bucket', 'count', 'sum'].map((part) => `${base}_${part}`)
      : [base];
  });
  return new Set(names);
}

const toPrometheus = (name: string): string => name.replaceAll('.', '_');

const labels = [...Object.values(HTTP), ...Object.values(OWN)].map(toPrometheus);

const alerts = parse(readFileSync('examples/observability/alerts.yaml', 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const dashboard = JSON.parse(readFileSync('examples/observability/dashboard.json', 'utf8')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const expressions = [
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '5m')] as const),
  ),
];

/** Returns the names in an expression. */
function namesIn(expression: string) {
  const found = { errors: 0, metrics: [] as string[], labels: [] as string[] };
  parser.parse(expression).iterate({
    enter({ name, from, to, type, node }) {
      const text = expression.slice(from, to);
      if (type.isError) found.errors += 1;
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') found.metrics.push(text);
      if (name === 'LabelName') found.labels.push(text);
    },
  });
  return found;
}

test('every expression of the alerts and the dashboard uses existing names', async () => {
  const known = await prometheusNames();
  const used = new Set<string>();
  for (const [where, expression] of expressions) {
    const { errors, metrics, labels: named } = namesIn(expression);
    expect({ where, errors }).toEqual({ where, errors: 0 });
    expect(metrics.length).toBeGreaterThan(0);
    for (const metric of metrics) expect([...known], where).toContain(metric);
    for (const label of named) expect(['le', ...labels], where).toContain(label);
    for (const metric of metrics) used.add(metric);
  }
  const kinds = new Set([...used].map((name) => name.replace(/_(?:bucket|count|sum)$/, '')));
  const made = new Set([...known].map((name) => name.replace(/_(?:bucket|count|sum)$/, '')));
  expect(kinds).toEqual(made);
});
