import { expect, test } from 'vitest';
import { toJUnitXml } from '../../src/cli/check-report.js';
import { hasXmlParser, parseXml } from './parse-xml.js';
import { createReport, failed, passed, skipped } from './sample-report.js';

const document = toJUnitXml(createReport(passed, failed, skipped));

test('a report as JUnit XML', () => {
  expect(
    toJUnitXml(
      createReport(
        passed,
        { ...failed, title: 'T', detail: '1 < 2\n', remedy: 'Do "it".' },
        skipped,
      ),
    ),
  ).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="merchant-payments check" tests="3" failures="1" errors="0" skipped="1">
  <testsuite name="http://127.0.0.1:3000/callbacks?x=&lt;y&gt;" tests="3" failures="1" errors="0" skipped="1">
    <testcase classname="merchant-payments.check" name="reachable: Answers over HTTP"/>
    <testcase classname="merchant-payments.check" name="wrong-secret: T">
      <failure message="1 &lt; 2\\n" type="wrong-secret">Do &quot;it&quot;.</failure>
    </testcase>
    <testcase classname="merchant-payments.check" name="valid-effect: Acts once on a valid callback">
      <skipped message="not tried: it needs a probe"/>
    </testcase>
  </testsuite>
</testsuites>
`);
});

test('what XML 1.0 can not carry is escaped', () => {
  const message = /<failure message="([^"]*)"/.exec(document)?.[1];
  expect(message).toBe(
    'the endpoint answered 200 a\\x1b[31m&lt;b attr=&quot;x&quot;&gt;&amp;amp;]]&gt;\\u202e\\x00\\ud800\\r\\n\\té😀',
  );
});

test.runIf(hasXmlParser)('a parser of another language reads back what was written', () => {
  const { tag, children } = parseXml(document);
  const [suite] = children;
  expect(tag).toBe('testsuites');
  expect(suite?.attributes).toMatchObject({ tests: '3', failures: '1', skipped: '1' });
  const [failure] = suite?.children[1]?.children ?? [];
  const carried = 'a\\x1b[31m<b attr="x">&amp;]]>\\u202e\\x00\\ud800\\r\\n\\té😀';
  expect(failure?.attributes).toEqual({
    message: `the endpoint answered 200 ${carried}`,
    type: 'wrong-secret',
  });
  expect(failure?.text).toBe(failed.remedy);
});
