import { measureClient } from './client.mjs';
import { measureColdStart } from './cold-start.mjs';
import { measureImport } from './import.mjs';
import { measureMockServer } from './mock-server.mjs';
import { measureMysql } from './mysql.mjs';
import { measureOutbox } from './outbox.mjs';
import { measurePostgres } from './postgres.mjs';
import { measureReceiver } from './receiver.mjs';
import { report } from './report.mjs';
import { measureSize } from './size.mjs';
import { measureVerify } from './verify.mjs';

report([
  await measureVerify(),
  await measureClient(),
  await measureReceiver(),
  await measurePostgres(),
  await measureMysql(),
  await measureOutbox(),
  await measureMockServer(),
  await measureColdStart(),
  measureImport(),
  measureSize(),
]);
