import { open } from 'node:fs/promises';
import type { ServiceProfile } from 'merchant-payments/mock-server';
import { serviceProfile } from '../protocol/service-profile.js';
import { UsageError } from './command.js';

const MAX_BYTES = 1_048_576;

/** @throws {UsageError} when the file of `--profile` can't be read, or holds no profile */
export async function readProfile(path: string): Promise<ServiceProfile> {
  const refuse = (reason: string) => new UsageError(`--profile: ${reason}`);
  const bytes = await readFileStart(path).catch(({ code }: NodeJS.ErrnoException) => {
    throw refuse(`reading ${path} failed with ${code}`);
  });
  if (bytes.byteLength > MAX_BYTES) throw refuse(`the file is over ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw refuse('the file is not JSON');
  }
  return serviceProfile(value, 'profile');
}

async function readFileStart(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
  return buffer.subarray(0, bytesRead);
}
