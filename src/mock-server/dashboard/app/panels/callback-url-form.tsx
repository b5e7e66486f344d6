import { useEffect, useState } from 'preact/hooks';
import { control } from '../data/control-client.js';
import { ActionStatus, useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';

/** Where callbacks go; empty for nowhere. */
export function CallbackUrlForm({ callbackUrl }: { callbackUrl: string | null }) {
  const [url, setUrl] = useState(callbackUrl ?? '');
  const action = useAction();
  // Somebody else may set it, or the mock write it in another way.
  useEffect(() => setUrl(callbackUrl ?? ''), [callbackUrl]);

  const save = (value: string) =>
    action.run(async () => {
      const state = await control.setCallbackUrl(value === '' ? null : value);
      return state.callbackUrl === null
        ? 'Removed. Status changes send nothing now.'
        : 'Set. The next callback goes there.';
    });

  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault();
        void save(url.trim());
      }}
    >
      <TextField
        label="Callback URL"
        value={url}
        onValue={setUrl}
        placeholder="http://127.0.0.1:3000/callbacks/payments"
      >
        <Button type="submit" kind="primary" isBusy={action.isRunning}>
          Set
        </Button>
        {callbackUrl !== null && (
          <Button isBusy={action.isRunning} onClick={() => void save('')}>
            Remove
          </Button>
        )}
      </TextField>
      <ActionStatus action={action} />
    </form>
  );
}
