import { useEffect, useState } from 'preact/hooks';
import type { EndpointCheck } from '../../../testing/endpoint-check/report.js';
import type { ControlCheck, ControlState } from '../../control/control-types.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import { CapturedDiagnosis } from './diagnosis.js';
import { SelectField, TextField } from './field.js';
import { writeDuration } from './format.js';
import { toHash } from './route.js';
import { Card, Page } from './section.js';
import type { Tone } from './status-kind.js';
import { Badge } from './text.js';

/** Checks the merchant's endpoint, and diagnoses a callback that it refused. */
export function EndpointView({ service }: { service: ControlState | undefined }) {
  return (
    <Page title="Endpoint">
      {service !== undefined && <Check callbackUrl={service.callbackUrl} />}
      <CapturedDiagnosis />
    </Page>
  );
}

const POLL_MS = 300;

/** Follows the mock's check, which continues when this view is left, and which other pages see too. */
function useCheck(): [ControlCheck | undefined, (check: ControlCheck) => void] {
  const [check, setCheck] = useState<ControlCheck | undefined>(undefined);
  const isRunning = check?.isRunning ?? true;
  useEffect(() => {
    if (!isRunning) return;
    // The alert at the top of the page reports a mock that is gone; the next poll may find it again.
    const poll = () => {
      if (!document.hidden) void control.getCheck().then(setCheck, () => undefined);
    };
    poll();
    const timer = window.setInterval(poll, POLL_MS);
    return () => window.clearInterval(timer);
  }, [isRunning]);
  return [check, setCheck];
}

function Check({ callbackUrl }: { callbackUrl: string | null }) {
  const [check, setCheck] = useCheck();
  const [effectUrl, setEffectUrl] = useState('');
  const [effectCounts, setEffectCounts] = useState('');
  const [reference, setReference] = useState('');
  const action = useAction();
  const start = () =>
    void action.run(async () => {
      const started = await control.startCheck({
        ...(effectUrl && { countEffects: effectUrl, ...(effectCounts && { effectCounts }) }),
        ...(reference && { merchantPaymentReference: reference }),
      });
      setCheck(started);
      return '';
    });
  const cancel = () =>
    void action.run(async () => {
      setCheck(await control.cancelCheck());
      return '';
    });

  return (
    <Card title="Check your endpoint">
      {callbackUrl === null ? (
        <p class="muted">
          Set a callback URL first: <a href={toHash({ view: 'service' })}>Service</a>.
        </p>
      ) : (
        <Form onSubmit={start}>
          <p class="muted">
            Sends about 50 callbacks to <code>{callbackUrl}</code> and judges the answers. Your
            endpoint acts on them: use a test system.
          </p>
          <div class="form-grid">
            <TextField
              label="Effect URL (optional)"
              value={effectUrl}
              onValue={setEffectUrl}
              placeholder="http://127.0.0.1:3000/test/effects"
            />
            {effectUrl && (
              <SelectField
                label="What it counts"
                value={effectCounts}
                onValue={setEffectCounts}
                choices={['', 'paid', 'changes']}
              />
            )}
            <TextField
              label="Reference of a stored order (optional)"
              value={reference}
              onValue={setReference}
            />
          </div>
          <div class="form-row">
            <Button kind="primary" action={action} isDisabled={check?.isRunning}>
              Run the check
            </Button>
            {check?.isRunning && (
              <Button action={action} onClick={cancel}>
                Cancel
              </Button>
            )}
          </div>
          <ActionStatus action={action} />
        </Form>
      )}
      <CheckResult check={check} />
    </Card>
  );
}

const outcomes: Readonly<Record<EndpointCheck['outcome'], { tone: Tone; sign: string }>> = {
  failed: { tone: 'bad', sign: '✕' },
  skipped: { tone: 'waiting', sign: '–' },
  passed: { tone: 'good', sign: '✓' },
};
const outcomeNames = Object.keys(outcomes) as readonly EndpointCheck['outcome'][];

function CheckResult({ check }: { check: ControlCheck | undefined }) {
  const cause = check?.report?.cause;
  const checks = causeFirst(check?.checks ?? [], cause);
  return (
    <>
      <p role="status">{check === undefined ? '' : describeCheck(check)}</p>
      {check?.failure !== undefined && <p class="bad-text">{check.failure}</p>}
      {outcomeNames.map((outcome) => {
        const found = checks.filter((one) => one.outcome === outcome);
        if (found.length === 0) return null;
        return (
          <details key={outcome} class="checks" open={outcome === 'failed'}>
            <summary>
              <Badge text={`${found.length} ${outcome}`} {...outcomes[outcome]} />
            </summary>
            <ul class="findings">
              {found.map((one) => (
                <Finding key={one.id} check={one} isCause={one.id === cause} />
              ))}
            </ul>
          </details>
        );
      })}
    </>
  );
}

function describeCheck({ isRunning, checks, report }: ControlCheck): string {
  if (isRunning) return `Checking… ${checks.length} done.`;
  if (report === undefined) return '';
  const verdict = report.passed ? 'No check failed' : 'Some checks failed';
  return `${verdict}. The check took ${writeDuration(report.durationMs)}.`;
}

const causeFirst = (checks: readonly EndpointCheck[], cause: string | undefined) =>
  [...checks].sort((left, right) => Number(right.id === cause) - Number(left.id === cause));

function Finding({ check, isCause }: { check: EndpointCheck; isCause: boolean }) {
  const { outcome, title, detail, why, remedy, answer } = check;
  return (
    <li class={`finding ${outcomes[outcome].tone}`}>
      <p>
        <strong>{title}</strong> {isCause && <Badge text="look here first" tone="bad" />}
      </p>
      <p>{detail}</p>
      {outcome === 'failed' && (
        <>
          {answer !== undefined && (
            <p>
              It answered: <code>{answer}</code>
            </p>
          )}
          <p class="muted">{why}</p>
          <p>{remedy}</p>
        </>
      )}
    </li>
  );
}
