import { HOW_TO_GET_THE_BYTES } from '../../callback/body.js';
import type { CallbackFinding, CallbackFindingCode } from './diagnosis.js';
import type { HtmlEscapes, JsonEscapes, JsonLayout } from './json-style.js';

const PASS_THE_BYTES = `Pass the bytes as received, not JSON that was written again. ${HOW_TO_GET_THE_BYTES}.`;
const LEAVE_THE_BYTES =
  'Pass the bytes as received: see what reads, logs or stores the body on its way (an editor, a shell, a text column) and keep it as bytes.';

function respelled(code: CallbackFindingCode, message: string): CallbackFinding {
  return Object.freeze({ code, message, remedy: PASS_THE_BYTES });
}

function touched(code: CallbackFindingCode, message: string): CallbackFinding {
  return Object.freeze({ code, message, remedy: LEAVE_THE_BYTES });
}

/** Nothing for a captured layout that is none of those known here. */
export function respacedFinding(
  signed: JsonLayout,
  captured: JsonLayout | undefined,
): CallbackFinding {
  return respelled(
    'body-respaced',
    `The white space between the parts of the JSON was changed after signing: signed was the same JSON ${signed.name}, given is ${captured === undefined ? 'another layout' : `one ${captured.name}`}.`,
  );
}

export function reorderedFinding(signed: 'interface' | 'sorted'): CallbackFinding {
  const order = signed === 'sorted' ? 'sorted by name' : "in the interface's order";
  return respelled(
    'body-keys-reordered',
    `The keys of the JSON were put in another order after signing: signed were the same fields ${order}.`,
  );
}

export function slashesFinding({ slashes }: JsonEscapes): CallbackFinding {
  return respelled(
    'body-slash-escapes',
    slashes
      ? 'Slashes were unescaped after signing: signed was the same JSON with \\/ for / (as PHP writes it).'
      : 'Slashes were escaped after signing: signed was the same JSON with / for \\/ (PHP escapes them).',
  );
}

export function unicodeFinding({ unicode }: JsonEscapes): CallbackFinding {
  return respelled(
    'body-unicode-escapes',
    unicode === 'plain'
      ? 'Characters beyond ASCII were escaped after signing: signed was the same JSON with them in UTF-8 instead of \\uXXXX.'
      : `Characters beyond ASCII were spelled in another way after signing: signed was the same JSON with \\uXXXX escapes in ${unicode} case.`,
  );
}

const HTML_HABITS: Readonly<Record<HtmlEscapes, string>> = {
  none: 'without \\uXXXX escapes for < > & and their like',
  go: 'with \\u003c \\u003e \\u0026 for < > & (as Go writes it)',
  gson: 'with \\u003c \\u003e \\u0026 \\u003d \\u0027 for < > & = and the apostrophe (as Gson writes it)',
  dotnet: 'with \\u002B \\u003C \\u0022 for + < and quotes (as .NET writes it)',
};

export function htmlFinding({ html }: JsonEscapes): CallbackFinding {
  return respelled(
    'body-html-escapes',
    `Escapes of HTML characters were changed after signing: signed was the same JSON ${HTML_HABITS[html]}.`,
  );
}

export const newlineAdded = touched(
  'body-trailing-newline',
  'A line break was added at the end of the body after signing: signed was the body without it.',
);

export function newlineRemoved(lineBreak: '\n' | '\r\n'): CallbackFinding {
  return touched(
    'body-trailing-newline',
    `The line break (${lineBreak === '\n' ? 'LF' : 'CR LF'}) at the end of the body was removed after signing: signed was the body with it.`,
  );
}

export const spaceAdded = touched(
  'body-surrounding-space',
  'White space was added around the body after signing: signed was the body without it.',
);

export const markAdded = touched(
  'body-byte-order-mark',
  'A byte order mark was added before the body after signing: signed was the body without it.',
);

export const markRemoved = touched(
  'body-byte-order-mark',
  'The byte order mark before the body was removed after signing: signed was the body with it.',
);

export function lineEndingsFinding(signed: '\n' | '\r\n'): CallbackFinding {
  return touched(
    'body-line-endings',
    `The line ends of the body were converted after signing: signed was the same text with ${signed === '\n' ? 'LF' : 'CR LF'}.`,
  );
}

export const base64Finding: CallbackFinding = Object.freeze({
  code: 'body-base64',
  message: 'The body is given in base64: signed were the bytes that it stands for.',
  remedy:
    "Decode it first: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') on AWS Lambda.",
});

export const doubleEncodedFinding: CallbackFinding = Object.freeze({
  code: 'body-double-encoded',
  message:
    'The body is given as a JSON string that holds the JSON: signed was the text inside, without the outer quotes.',
  remedy: 'Pass the text inside: JSON.parse(body) undoes the JSON.stringify that was called on it.',
});

export const readAsLatin1Finding: CallbackFinding = Object.freeze({
  code: 'body-wrong-charset',
  message:
    'The UTF-8 bytes of the body were read as Latin-1 (Windows-1252) and encoded again: signed were the bytes before that.',
  remedy: "Decode the body as UTF-8: toString('utf8'), never 'latin1' or 'binary'.",
});

export const writtenAsLatin1Finding: CallbackFinding = Object.freeze({
  code: 'body-wrong-charset',
  message: 'The body is given in Latin-1: signed was the same text in UTF-8.',
  remedy: "Encode the body as UTF-8: Buffer.from(text, 'utf8'), never 'latin1' or 'binary'.",
});

export const decodedWithLoss: CallbackFinding = Object.freeze({
  code: 'body-decoded-with-loss',
  message:
    'The body holds replacement characters (U+FFFD) or lone surrogates: bytes of it were lost when it was decoded as text, and the signature over them can not be checked.',
  remedy: `Pass the bytes as received, joined before anything decodes them. ${HOW_TO_GET_THE_BYTES}.`,
});

export const emptyBody: CallbackFinding = Object.freeze({
  code: 'body-empty',
  message: 'The body is empty: most often something read the request before.',
  remedy: `${HOW_TO_GET_THE_BYTES}.`,
});

const NOT_RAW_REMEDY = `Pass the bytes as received. ${HOW_TO_GET_THE_BYTES}.`;

export const objectAsText: CallbackFinding = Object.freeze({
  code: 'body-not-raw',
  message: 'The body is the text "[object Object]": a parsed object was turned into a string.',
  remedy: NOT_RAW_REMEDY,
});

export function notRawFinding(what: string): CallbackFinding {
  return Object.freeze({
    code: 'body-not-raw',
    message: `The body is ${what}, not the bytes as received, and what was signed could not be made of it.`,
    remedy: NOT_RAW_REMEDY,
  });
}

export function notRawButRight(what: string): CallbackFinding {
  return Object.freeze({
    code: 'body-not-raw',
    message: `The body is ${what}, not the bytes as received. The signature is right for these contents; only the bytes were lost.`,
    remedy: NOT_RAW_REMEDY,
  });
}
