import { SIGNATURE_HEADER, type SignatureEncoding } from '../../../protocol/wire.js';
import { createRecord } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import { withSignature } from '../signer.js';
import { type CheckVerdict, judgeRefused, pass } from '../verdict.js';

interface Alteration {
  /** What is sent, as the beginning of a sentence. */
  readonly what: string;
  readonly alter: (signature: string, encoding: SignatureEncoding) => string;
}

const list: readonly Alteration[] = [
  { what: 'the first character of the right signature', alter: (text) => text.slice(0, 1) },
  {
    what: 'the first half of the right signature',
    alter: (text) => text.slice(0, Math.floor(text.length / 2)),
  },
  {
    what: 'the right signature with its first byte changed',
    alter: (text, encoding) => changeBytes(text, encoding, (bytes) => flip(bytes, 0)),
  },
  {
    what: 'the right signature with its last byte changed',
    alter: (text, encoding) =>
      changeBytes(text, encoding, (bytes) => flip(bytes, bytes.length - 1)),
  },
  {
    what: 'the right signature with a byte appended',
    alter: (text, encoding) =>
      changeBytes(text, encoding, (bytes) => Buffer.concat([bytes, Buffer.alloc(1)])),
  },
];

/** What a comparison of prefixes, of a part, or of the shorter length takes for right. */
export const alteredSignature: Scenario = defineScenario({
  checks: {
    'altered-signature': {
      title: 'Compares the whole signature',
      why: 'When a part of the signature is enough, it can be guessed: one character is right once in 16 or 64 tries.',
      remedy:
        'Decode X-Signature, refuse it unless it has 32 bytes, and compare all of them with crypto.timingSafeEqual; callbackHandler does.',
    },
  },
  async run(stage) {
    const { signer, options } = stage;
    const statuses: unknown[] = [];
    for (const { what, alter } of list) {
      const payment = await stage.createPayment();
      const request = signer.sign(createRecord(payment));
      const altered = alter(request.headers[SIGNATURE_HEADER] ?? '', options.signatureEncoding);
      const answer = await stage.forge(payment, withSignature(request, altered));
      const verdict: CheckVerdict = judgeRefused(what, answer);
      if (verdict.outcome !== 'passed') return { 'altered-signature': verdict };
      statuses.push(answer.status);
    }
    const seen = `cut, changed and lengthened signatures were answered ${statuses.join(', ')}`;
    return { 'altered-signature': pass(seen) };
  },
});

// Bytes and not letters: other letters may stand for the same bytes.
function changeBytes(
  text: string,
  encoding: SignatureEncoding,
  change: (bytes: Buffer) => Buffer,
): string {
  return change(Buffer.from(text, encoding)).toString(encoding);
}

function flip(bytes: Buffer, index: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[index] = (changed[index] ?? 0) ^ 1;
  return changed;
}
