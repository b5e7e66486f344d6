import type { PaymentStatusRecord } from '../../../protocol/payment.js';
import { createRecord } from '../payment.js';
import type { CheckText, EndpointCheckId } from '../report.js';
import type { Scenario } from '../scenario.js';
import type { SignedRequest } from '../signer.js';
import type { Stage } from '../stage.js';
import { judgeAccepted } from '../verdict.js';

interface UnusualCallback extends CheckText {
  readonly id: EndpointCheckId;
  /** What is sent, as the beginning of a sentence. */
  readonly what: string;
  readonly create: (stage: Stage) => Promise<SignedRequest>;
}

// A face outside the basic plane, Arabic between direction marks, and an e with a combining accent.
const UNUSUAL_TEXT = '😀 \u200fطلب\u200e cafe\u0301 ñ';

const list: readonly UnusualCallback[] = [
  {
    id: 'raw-bytes',
    title: 'Accepts any valid spelling of the JSON',
    why: "Spaces and escapes are the service's to choose; a handler that writes the JSON again refuses true payments when they change.",
    remedy:
      'Verify the bytes as received: mount callbackHandler before express.json(), or keep the raw body.',
    what: 'line breaks, spaces and escapes in the JSON',
    async create(stage) {
      const record = createRecord(await stage.createPayment());
      return stage.signer.sign(spellUnusually(record));
    },
  },
  {
    id: 'unicode',
    title: 'Accepts text of any script',
    why: "A customer's name or an order's label in another script must not keep its payment from being recorded.",
    remedy:
      'Verify bytes, not text, and decode as UTF-8: no setEncoding("latin1") or "binary". callbackHandler takes the bytes.',
    what: 'emoji, Arabic and combining characters',
    async create(stage) {
      const record = createRecord(await stage.createPayment({ suffix: ` ${UNUSUAL_TEXT}` }));
      // A reference that the options give is left as it is.
      const isGiven = stage.options.merchantPaymentReference !== undefined;
      return stage.signer.sign(isGiven ? { ...record, checkNote: UNUSUAL_TEXT } : record);
    },
  },
  {
    id: 'extra-fields',
    title: 'Accepts fields it does not know',
    why: 'The interface does not show every field; the day the service adds one, no payment would be recorded.',
    remedy: 'Ignore unknown fields: no strict schema. callbackHandler keeps them and goes on.',
    what: 'further fields, nested ones too',
    async create(stage) {
      const record = createRecord(await stage.createPayment());
      const checkExtra = { nested: { list: [1, 2.5, null, true], text: 'x' } };
      return stage.signer.sign({ ...record, checkExtra, checkNumber: 1 });
    },
  },
  {
    id: 'empty-provider-reference',
    title: 'Accepts an empty providerReference',
    why: 'A payment that has no provider yet is a payment all the same.',
    remedy: 'Do not require providerReference to have text.',
    what: 'an empty providerReference',
    async create(stage) {
      const record = createRecord(await stage.createPayment());
      return stage.signer.sign({ ...record, providerReference: '' });
    },
  },
  {
    id: 'header-case',
    title: 'Accepts header names in capitals',
    why: 'Header names have no case, and a proxy on the way may change it.',
    remedy: 'Look headers up without regard to case; callbackHandler does.',
    what: 'header names in capitals',
    async create(stage) {
      const { headers, body } = stage.signer.sign(createRecord(await stage.createPayment()));
      const shouted = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
      return { headers: Object.fromEntries(shouted), body };
    },
  },
];

// The same record: escaped letters and slashes, spaces and line breaks. ASCII alone, so that a handler
// that decodes wrongly fails in the check for that.
function spellUnusually(record: PaymentStatusRecord): string {
  const { providerReference, ...rest } = record;
  const escaped = JSON.stringify(`${providerReference}/1`).replace('/', '\\/');
  return JSON.stringify({ ...rest, providerReference: 0 }, null, '\t')
    .replace('"providerReference": 0', `"providerReference" : ${escaped}`)
    .replace('"paid"', '"\\u0070aid"')
    .replaceAll('\n', '\r\n');
}

export const unusualCallbacks: readonly Scenario[] = list.map(({ id, what, create, ...text }) => ({
  checks: { [id]: text },
  async run(stage) {
    return { [id]: judgeAccepted(what, await stage.deliver(await create(stage))) };
  },
}));
