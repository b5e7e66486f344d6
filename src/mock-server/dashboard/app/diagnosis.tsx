import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CallbackDiagnosis } from '../../../testing/diagnosis/diagnosis.js';
import type { ControlAttempt } from '../../control/control-types.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control, type Draft } from './control-client.js';
import { TextArea, TextField } from './field.js';
import { Card } from './section.js';
import { Details } from './text.js';

/** Diagnoses an attempt as it was sent. */
export function Diagnose({ attempt }: { attempt: ControlAttempt }) {
  const [secret, setSecret] = useState('');
  return (
    <Details class="tool" summary="Diagnose">
      <DiagnosisForm
        toDraft={() => ({ attemptId: attempt.id, ...(secret !== '' && { signingSecret: secret }) })}
        whenVerified="The callback was valid when it was sent. If your endpoint refused it, look there: for another secret, a wrong clock, or a body that was parsed and serialised again."
      >
        <SecretField value={secret} onValue={setSecret} />
      </DiagnosisForm>
    </Details>
  );
}

/** Diagnoses what an endpoint received. */
export function CapturedDiagnosis() {
  const [headers, setHeaders] = useState('');
  const [body, setBody] = useState('');
  const [secret, setSecret] = useState('');
  return (
    <Card title="Diagnose a callback">
      <p class="muted">
        Paste a callback that your endpoint refused. It is checked with the signing secret of this
        mock.
      </p>
      <DiagnosisForm
        toDraft={() => ({
          headers: readHeaders(headers),
          body,
          ...(secret !== '' && { signingSecret: secret }),
        })}
        whenVerified="The callback is valid: verifyCallback accepts it."
      >
        <div class="form-grid">
          <TextArea
            label="Headers, one per line"
            value={headers}
            onValue={setHeaders}
            placeholder={'x-timestamp: 1769860800\nx-signature: …'}
          />
          <TextArea label="Body, byte for byte" value={body} onValue={setBody} />
        </div>
        <SecretField value={secret} onValue={setSecret} />
      </DiagnosisForm>
    </Card>
  );
}

function SecretField(props: { value: string; onValue: (value: string) => void }) {
  return <TextField label="Signing secret of your endpoint (default: the mock’s)" {...props} />;
}

interface DiagnosisFormProps {
  readonly toDraft: () => Draft;
  readonly whenVerified: string;
  readonly children: ComponentChildren;
}

function DiagnosisForm({ toDraft, whenVerified, children }: DiagnosisFormProps) {
  const [diagnosis, setDiagnosis] = useState<CallbackDiagnosis | undefined>(undefined);
  const action = useAction();
  const diagnose = () =>
    void action.run(async () => {
      const found = await control.diagnose(toDraft());
      setDiagnosis(found);
      if (found.verified) return 'No findings.';
      return found.findings.length === 1 ? 'One finding.' : `${found.findings.length} findings.`;
    });
  return (
    <Form onSubmit={diagnose}>
      {children}
      <div class="form-row">
        <Button action={action}>Diagnose</Button>
      </div>
      <ActionStatus action={action} />
      {diagnosis?.verified && <p class="good-text">✓ {whenVerified}</p>}
      {diagnosis !== undefined && diagnosis.findings.length > 0 && (
        <ul class="findings">
          {diagnosis.findings.map(({ code, message, remedy }) => (
            <li key={code} class="finding bad">
              <p>
                <strong>{code}</strong>: {message}
              </p>
              <p>{remedy}</p>
            </li>
          ))}
        </ul>
      )}
    </Form>
  );
}

/** Reads one `name: value` per line; a repeated header has several values. */
function readHeaders(text: string): Record<string, string | string[]> {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(
    [...headers].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
