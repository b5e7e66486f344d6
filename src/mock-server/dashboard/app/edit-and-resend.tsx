import { useState } from 'preact/hooks';
import type { ControlAttempt } from '../../control/control-types.js';
import { ActionStatus, Button, Form, useAction } from './action.js';
import { control } from './control-client.js';
import { describeResult } from './delivery-text.js';
import { TextArea } from './field.js';
import { Details } from './text.js';

/** Resends a callback with a body that is edited here. */
export function EditAndResend({ attempt }: { attempt: ControlAttempt }) {
  const [body, setBody] = useState(attempt.rawBody);
  const [isSigned, setSigned] = useState(true);
  const action = useAction();
  const send = () =>
    void action.run(async () => {
      const signature = isSigned ? 'new' : 'kept';
      return describeResult(await control.resendEdited(attempt.deliveryId, { body, signature }));
    });

  return (
    <Details class="tool" summary="Edit and resend">
      <Form onSubmit={send}>
        <TextArea label="Body to send" value={body} onValue={setBody} />
        <label class="choice">
          <input
            type="checkbox"
            checked={isSigned}
            onChange={({ currentTarget }) => setSigned(currentTarget.checked)}
          />
          Sign the edited body (otherwise it keeps the original signature, and your endpoint must
          refuse it)
        </label>
        <div class="form-row">
          <Button kind="primary" action={action}>
            Send edited
          </Button>
        </div>
        <ActionStatus action={action} />
      </Form>
    </Details>
  );
}
