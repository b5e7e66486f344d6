import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { secretEnv, signingSecret } from './merchant-server.js';
import { runCommand } from './run-command.js';

export const SECONDS = 1_769_860_800;
export const AT = ['--at', String(SECONDS)];

export function hmac(text: string, secret = signingSecret): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

export const record = {
  referenceNumber: '0b7f3f4e-1111-4222-8333-444455556666',
  merchantPaymentReference: 'order-1',
  providerReference: 'p-1',
  status: 'paid',
  createdAt: '2026-01-31T12:00:00+00:00',
  updatedAt: '2026-01-31T12:00:00+00:00',
};
export const body = JSON.stringify(record);

export interface Capture {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly rawBody?: unknown;
  readonly rawBodyBase64?: string;
}

export function capture(
  changes: Readonly<Record<string, string | readonly string[]>> = {},
): Capture {
  return {
    headers: {
      'x-timestamp': String(SECONDS),
      'x-signature': hmac(`${SECONDS}.${body}`),
      ...changes,
    },
    rawBody: body,
  };
}

export const verify = (input: string | Uint8Array, ...args: readonly string[]) =>
  runCommand(['callback', 'verify', ...AT, ...args], secretEnv, input);

export async function diagnose(input: unknown, ...args: readonly string[]) {
  const { code, stdout, stderr } = await verify(JSON.stringify(input), '--json', ...args);
  const { findings, ...diagnosis } = JSON.parse(stdout);
  const codes = findings.map((finding: { code: string }) => finding.code);
  return { code, stderr, ...diagnosis, codes };
}

interface CaptureFolder {
  readonly path: string;
  /** Writes a file into it, and returns its path. */
  save(name: string, content: string | Uint8Array): Promise<string>;
}

/** A folder for the tests of a file, there until they have ended. */
export function createCaptureFolder(): CaptureFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'callback-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    path: folder,
    async save(name, content) {
      const file = path.join(folder, name);
      await writeFile(file, content);
      return file;
    },
  };
}
