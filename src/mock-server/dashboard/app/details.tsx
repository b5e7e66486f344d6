import { useState } from 'preact/hooks';
import type { ControlAttempt, ControlRequest } from '../../control/control-types.js';
import { control } from './control-client.js';
import { ActionStatus, Button, Checkbox, Form, TextArea, useAction } from './controls.js';
import { describeResult, type Line, writeCurlCommand } from './lines.js';
import { Body, CopyButton, Headers, RawText } from './texts.js';

/** Every byte of what a line tells of: what was sent, and what was answered. */
export function LineDetails({ line: { source } }: { line: Line }) {
  if ('request' in source) return <RequestDetails request={source.request} />;
  if (source.attempt !== undefined) return <AttemptDetails attempt={source.attempt} />;
  return <p class="muted">No attempt has ended.</p>;
}

function RequestDetails({ request }: { request: ControlRequest }) {
  const { body, headers, authenticated, answer, outcome, requestId } = request;
  return (
    <div class="sides request">
      <div>
        <h3>Your code sent</h3>
        <Body label="Body" text={body} />
        <Headers headers={headers} />
        <p class="muted">
          {authenticated ? 'With' : 'Without'} the mock’s credentials. Request{' '}
          <code>{requestId}</code>
        </p>
      </div>
      <div>
        <h3>The mock answered</h3>
        {answer === undefined ? (
          <p class="muted">{outcome === 'waiting' ? 'Nothing yet.' : 'Nothing.'}</p>
        ) : (
          <>
            {answer.withheld && <p class="bad-text">Your code did not get this.</p>}
            <Body
              label={`HTTP ${answer.status}${answer.cut ? ', cut off' : ''}`}
              text={answer.body}
            />
            <Headers headers={answer.headers} />
          </>
        )}
      </div>
    </div>
  );
}

function AttemptDetails({ attempt }: { attempt: ControlAttempt }) {
  const { headers, rawBody, response, hint, timestamp, signedString, url } = attempt;
  return (
    <>
      {hint !== undefined && <p class="hint">{hint}.</p>}
      <div class="sides">
        <div>
          <h3>Your endpoint was sent</h3>
          <Body label="Body" text={rawBody} />
          <Headers headers={headers} />
          <RawText
            label={signedString === undefined ? 'Signed text' : 'Signed text, not what was sent'}
            text={signedString ?? `${timestamp}.${rawBody}`}
            mark={`${timestamp}.`}
          />
          <p class="muted">
            To <code>{url}</code>
          </p>
        </div>
        <div>
          <h3>It answered</h3>
          {response === undefined ? (
            <p class="muted">Nothing.</p>
          ) : (
            <Body label={`HTTP ${response.status}`} text={response.body} />
          )}
          <CopyButton label="Copy as curl" text={writeCurlCommand(attempt)} />
        </div>
      </div>
      <EditAndResend attempt={attempt} />
    </>
  );
}

/** Resends a callback with a body that is edited here. */
function EditAndResend({ attempt }: { attempt: ControlAttempt }) {
  const [body, setBody] = useState(attempt.rawBody);
  const [isSigned, setSigned] = useState(true);
  const action = useAction();
  const edit = { body, signature: isSigned ? 'new' : 'kept' };
  const send = () =>
    void action.run(() => control.resend(attempt.deliveryId, { edit }), describeResult);
  return (
    <details class="tool">
      <summary>Edit and resend</summary>
      <Form onSubmit={send}>
        <TextArea label="Body to send" value={body} onValue={setBody} />
        <Checkbox isChecked={isSigned} onCheck={setSigned}>
          Sign the edited body. Otherwise it is forged, and your endpoint must refuse it.
        </Checkbox>
        <Button kind="primary" action={action}>
          Send edited
        </Button>
        <ActionStatus action={action} />
      </Form>
    </details>
  );
}
