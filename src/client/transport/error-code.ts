// fetch wraps the socket's error, and Node wraps the errors of several addresses in one.
const MAX_DEPTH = 4;

interface SystemError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

// What undici's parser throws; some versions leave its code (HPE_…) undefined.
const PARSER_ERROR = 'HTTPParserError';

/** The first machine-readable code in an error and its causes. */
export function findErrorCode(error: unknown): string | undefined {
  return findInCauses(error, ({ code, name }) => {
    if (typeof code === 'string') return code;
    return name === PARSER_ERROR ? name : undefined;
  });
}

/** Whether an answer came, but not one of HTTP: refused by the parser, or headers without end. */
export function isUnreadableAnswer(error: unknown): boolean {
  const code = findErrorCode(error);
  if (code === undefined) return false;
  return code.startsWith('HPE_') || code === PARSER_ERROR || code === 'UND_ERR_HEADERS_OVERFLOW';
}

function findInCauses<Found>(
  error: unknown,
  look: (error: SystemError) => Found | undefined,
): Found | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (typeof current !== 'object' || current === null) return undefined;
    const found = look(current);
    if (found !== undefined) return found;
    const { cause, errors } = current as SystemError;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}
