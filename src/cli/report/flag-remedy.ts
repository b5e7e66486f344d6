import type {
  CallbackDiagnosis,
  CallbackFinding,
  CallbackFindingCode,
} from 'merchant-payments/testing';

/**
 * The diagnosis in the words of the command line: where a finding names an option of the verifier
 * that has a flag, it names the flag, which is what its reader can give.
 */
export function withFlags(diagnosis: CallbackDiagnosis): CallbackDiagnosis {
  return { ...diagnosis, findings: diagnosis.findings.map(nameFlags) };
}

const rewordingOfCode: Partial<Record<CallbackFindingCode, (text: string) => string>> = {
  'timestamp-outside-window': (text) =>
    text.replace(
      'let now return the time it was received',
      'give the time it was received: --at <time>',
    ),
  'timestamp-unit': (text) =>
    text.replace(/set timestampUnit: '(\w+)'/, 'give --timestamp-unit $1'),
  'signature-encoding': (text) =>
    text
      .replace(/Set signatureEncoding: '(\w+)'/, 'Give --signature-encoding $1')
      .replace('signatureEncoding is', '--signature-encoding is'),
};

function nameFlags(finding: CallbackFinding): CallbackFinding {
  const reword = rewordingOfCode[finding.code];
  if (reword === undefined) return finding;
  return { ...finding, message: reword(finding.message), remedy: reword(finding.remedy) };
}
