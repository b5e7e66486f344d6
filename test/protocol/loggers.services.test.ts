import { Console } from 'node:console';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { Logger as PowertoolsLogger } from '@aws-lambda-powertools/logger';
import { configure, getLogger } from '@logtape/logtape';
import { ConsoleLogger } from '@nestjs/common';
import * as Sentry from '@sentry/node';
import { createConsola } from 'consola';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import winston from 'winston';
import { type Logger, loggerRule, writeLine } from '../../src/protocol/logger.js';

// It has no types.
const bunyan = createRequire(import.meta.url)('bunyan');

/** A stream, and the text that was written to it. */
class Sink extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const toWinston = (format: winston.Logform.Format) => (sink: Sink) =>
  winston.createLogger({
    level: 'debug',
    format,
    transports: [new winston.transports.Stream({ stream: sink })],
  });
const { simple, json, combine, timestamp, printf } = winston.format;

// Each with its own way to a sink.
const loggers: Readonly<Record<string, (sink: Sink) => Logger | Promise<Logger>>> = {
  console: (sink) => new Console(sink, sink),
  pino: (sink) => pino({ level: 'debug' }, sink),
  bunyan: (sink) =>
    bunyan.createLogger({ name: 'shop', streams: [{ level: 'debug', stream: sink }] }),
  consola: (sink) =>
    createConsola({
      level: 5,
      reporters: [{ log: ({ args }) => void sink.write(JSON.stringify(args)) }],
    }),
  'winston, simple': toWinston(simple()) as never,
  'winston, JSON': toWinston(combine(timestamp(), json())) as never,
  'winston, by printf': toWinston(
    printf(({ level, message, code, status }) => `${level} ${message} ${code} ${status}`),
  ) as never,
  Sentry: (sink) => {
    Sentry.init({
      dsn: 'https://key@sentry.invalid/1',
      integrations: [],
      beforeSendLog: ({ level, message, attributes }) => {
        sink.write(JSON.stringify({ level, message, ...attributes }));
        return null;
      },
    });
    return Sentry.logger as never;
  },
  LogTape: async (sink) => {
    await configure({
      reset: true,
      sinks: {
        sink: ({ message, properties }) =>
          void sink.write(message.join('') + JSON.stringify(properties)),
      },
      loggers: [{ category: 'shop', sinks: ['sink'], lowestLevel: 'debug' }],
    });
    return getLogger('shop') as never;
  },
  'Powertools for AWS Lambda': (sink) => {
    const logger = new PowertoolsLogger({ logLevel: 'DEBUG' });
    Object.assign(logger, { console: new Console(sink, sink) });
    return logger as never;
  },
  // As the guide has it.
  'Nest, by an adapter': (sink) => {
    const nest = new ConsoleLogger({ json: true });
    Object.assign(nest, {
      printAsJson: (message: unknown) => void sink.write(JSON.stringify(message)),
    });
    const line = (fields: object, message: string) => ({ message, ...fields });
    return {
      debug: (fields, message) => nest.debug(line(fields, message)),
      info: (fields, message) => nest.log(line(fields, message)),
      warn: (fields, message) => nest.warn(line(fields, message)),
      error: (fields, message) => nest.error(line(fields, message)),
    };
  },
};

describe.each(Object.entries(loggers))('%s', (_name, create) => {
  it.each(['debug', 'info', 'warn', 'error'] as const)(
    'shows the message and each field at %s',
    async (level) => {
      const sink = new Sink();
      const logger = loggerRule(await create(sink), 'logger');
      const fields = { code: 'PLANTED_CODE', status: 503 };
      writeLine(logger, level, { fields, message: 'request failed' });
      for (const shown of ['merchant-payments: request failed', 'PLANTED_CODE', '503']) {
        expect(sink.text).toContain(shown);
      }
      expect(sink.text).not.toMatch(/\[object Object\]|"0":/);
    },
  );
});

it('the logger of Nest without an adapter is refused', () => {
  expect(() => loggerRule(new ConsoleLogger(), 'logger')).toThrow(
    'logger must be a logger like console (with debug, info, warn, error)',
  );
});
