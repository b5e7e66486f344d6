import * as z from 'zod/mini';
import type { ShapeOf } from '../../protocol/schema.js';
import {
  oneOf,
  parseStrictly,
  strictFields,
  text,
  wholeNumber,
} from '../../protocol/strict-schema.js';
import type { CallbackEdit } from '../callbacks/delivery.js';
import { callbackGroups } from './callback-groups.js';
import type { ControlCall } from './control-call.js';

// The bodies of calls. What is unknown here is checked where it is used.

/** @throws {InvalidOptionError} for a field that is missing, invalid or unknown */
export const readBody = <Body>(schema: z.ZodMiniType<Body>, { body }: ControlCall): Body =>
  parseStrictly(schema, body);

export const noFields = strictFields({});

/** `PATCH /settings` */
export const settings = strictFields({
  callbackUrl: z.nullable(z.string('an http or https URL, or null for none')),
});

/** `POST /payments/:id/status` */
export const newStatus = strictFields({ status: text });

const edit = strictFields(
  {
    body: z.string('a string'),
    signature: z._default(oneOf('new', 'kept'), 'new'),
  } satisfies ShapeOf<CallbackEdit>,
  'an object with body, a string, and optionally signature',
);

/** `POST /payments/:id/resend` and `POST /deliveries/:id/resend` */
export const resending = strictFields({ fault: z.unknown(), edit: z.optional(edit) });

/** `POST /clock/advance` */
export const advance = strictFields({ ms: wholeNumber({ unit: 'milliseconds' }) });

/** `GET /callbacks?group=…` */
export const group = z.enum(callbackGroups, `one of ${callbackGroups.join(', ')}`);

/** `POST /diagnose` */
export const diagnosis = strictFields({ attemptId: text, signingSecret: z.optional(text) });
