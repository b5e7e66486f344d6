import type { IncomingMessage } from 'node:http';
import type { ALBEvent, APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

/** A request over HTTP as what AWS makes of it. Only what callers of an API see is filled in. */
type MakeEvent<Event> = (request: IncomingMessage, body: Buffer, base64?: boolean) => Event;

/** REST API, payload 1.0: the last value of a header, and all of them. */
export const makeRestApiEvent: MakeEvent<APIGatewayProxyEvent> = (request, body, base64) => ({
  ...bodyOf(body, base64),
  httpMethod: request.method ?? '',
  path: request.url ?? '',
  headers: lastValues(request),
  multiValueHeaders: allValues(request),
  resource: '/{proxy+}',
  pathParameters: null,
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  stageVariables: null,
  requestContext: { stage: 'test' } as APIGatewayProxyEvent['requestContext'],
});

/** HTTP API, payload 2.0, and function URLs: names in lower case, several values joined by a comma. */
export const makeHttpApiEvent: MakeEvent<APIGatewayProxyEventV2> = (request, body, base64) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: request.url ?? '',
  rawQueryString: '',
  headers: Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [name, values.join(',')]),
  ),
  requestContext: {
    http: { method: request.method, path: request.url },
  } as APIGatewayProxyEventV2['requestContext'],
  // An event without a body has no such field.
  ...(body.length > 0 && { body: text(body, base64) }),
  isBase64Encoded: base64 ?? false,
});

export const makeAlbEvent: MakeEvent<ALBEvent> = (request, body, base64) => ({
  requestContext: { elb: { targetGroupArn: 'arn' } },
  httpMethod: request.method ?? '',
  path: request.url ?? '',
  headers: lastValues(request, (name) => name.toLowerCase()),
  body: text(body, base64),
  isBase64Encoded: base64 ?? false,
});

/** With multi-value headers enabled there are no others. */
export const makeAlbMultiValueEvent: MakeEvent<ALBEvent> = (request, body, base64) => {
  const { headers: _single, ...event } = makeAlbEvent(request, body, base64);
  return { ...event, multiValueHeaders: allValues(request, (name) => name.toLowerCase()) };
};

function bodyOf(body: Buffer, base64 = false) {
  return { body: body.length === 0 ? null : text(body, base64), isBase64Encoded: base64 };
}

function text(body: Buffer, base64 = false): string {
  return body.toString(base64 ? 'base64' : 'utf8');
}

// A REST API hands names on as they were sent; proxies before it write them as they like.
function asSent(name: string): string {
  return name.toLowerCase().startsWith('x-s') ? 'X-SIGNATURE' : name;
}

function allValues({ rawHeaders }: IncomingMessage, rename = asSent): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rename(rawHeaders[index] as string);
    values[name] = [...(values[name] ?? []), rawHeaders[index + 1] as string];
  }
  return values;
}

function lastValues(request: IncomingMessage, rename = asSent): Record<string, string> {
  return Object.fromEntries(
    Object.entries(allValues(request, rename)).map(([name, values]) => [name, values.at(-1) ?? '']),
  );
}
