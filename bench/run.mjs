import { measureMysql, measurePostgres } from './callbacks.mjs';
import { measureClient } from './client.mjs';
import { measureColdStart } from './cold-start.mjs';
import { measureCreation } from './creation.mjs';
import { measureImport } from './import.mjs';
import { measureMockServer } from './mock-server.mjs';
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
  await measureCreation(),
  await measureMockServer(),
  await measureColdStart(),
  measureImport(),
  measureSize(),
]);
