import type { CreatePaymentInput } from '../../protocol/payment.js';
import type {
  InvalidCase,
  ProfiledAnswer,
  ServiceProfile,
} from '../../protocol/service-profile.js';
import type { MockPayment, PaymentBook } from '../state/payments.js';
import type { SeededIds } from '../state/seeded-ids.js';
import { isJsonType, type PlainAnswer, textAnswer } from './http-messages.js';
import type { LiveRequest, RecordedRequest } from './recorded-request.js';

type Fields = Readonly<Record<string, unknown>>;

interface ProfiledService {
  readonly profile: ServiceProfile;
  readonly ids: SeededIds;
  readonly payments: PaymentBook;
}

/** Answers as the profile describes. */
export class ProfiledAnswers {
  readonly #service: ProfiledService;

  constructor(service: ProfiledService) {
    this.#service = service;
  }

  /** The answer to an invalid request; `undefined` when the profile has none. */
  toInvalid(found: InvalidCase | undefined, request: LiveRequest): PlainAnswer | undefined {
    const { profile, payments } = this.#service;
    const answer = found && profile.invalid[found];
    if (answer === undefined) return undefined;
    const isAccepted = answer.status < 300 || answer.status === profile.creation.status;
    const payment = isAccepted ? payments.create(complete(fieldsOf(request.json))) : undefined;
    return this.#write(answer, request, payment);
  }

  /** Answers a creation. A repeated reference creates a second payment only when the profile says so. */
  toCreation(
    input: CreatePaymentInput & Fields,
    request: LiveRequest,
    answerFields: (payment: MockPayment) => Fields | undefined,
  ): PlainAnswer {
    const { profile, payments } = this.#service;
    const [first] = payments.ofOrder(input.merchantPaymentReference);
    const { effect, answer } =
      (first && profile.repeatedReference) ??
      ({ effect: 'second-payment', answer: profile.creation } as const);
    const payment =
      first === undefined || effect === 'second-payment' ? payments.create(input) : first;
    return this.#write(answer, request, payment, answerFields(payment));
  }

  #write(
    { status, contentType, body }: ProfiledAnswer,
    request: LiveRequest,
    payment: MockPayment | undefined,
    more: Fields = {},
  ): PlainAnswer {
    if (payment !== undefined) request.referenceNumber = payment.referenceNumber;
    const headers: Record<string, string> = contentType ? { 'content-type': contentType } : {};
    if (body === undefined || [204, 205, 304].includes(status)) {
      return { status, headers, body: '' };
    }
    const filled = this.#fill(body, '', { ...fieldsOf(request.json), ...payment }, request);
    if (!isJson(contentType)) return textAnswer(status, String(filled), headers);
    const isObject = typeof filled === 'object' && filled !== null && !Array.isArray(filled);
    return textAnswer(status, JSON.stringify(isObject ? { ...filled, ...more } : filled), headers);
  }

  #fill(template: unknown, key: string, known: Fields, request: RecordedRequest): unknown {
    if (Array.isArray(template)) return template.map((one) => this.#fill(one, key, known, request));
    if (typeof template === 'object' && template !== null) {
      return Object.fromEntries(
        Object.entries(template).map(([name, value]) => [
          name,
          this.#fill(value, name, known, request),
        ]),
      );
    }
    const name = typeof template === 'string' ? /^\{(\w+)\}$/.exec(template)?.[1] : undefined;
    const { requestId, at } = request;
    switch (name) {
      case 'referenceNumber':
      case 'providerReference':
      case 'merchantPaymentReference':
      case 'amount':
      case 'currency':
        return known[name] ?? null;
      case 'dateTime':
        return known['createdAt'] ?? at.toISOString();
      case 'uuid':
        return key === 'requestId' ? requestId : this.#service.ids.next('requestId');
      case 'url':
        return `https://payments.example/${known['referenceNumber'] ?? requestId}`;
      case 'text':
        return 'some text';
      case 'number':
        // Differs from the amount.
        return typeof known['amount'] === 'number' ? known['amount'] + 1 : 1;
      default:
        return template;
    }
  }
}

const isJson = (contentType: string | undefined): boolean =>
  isJsonType(contentType) || contentType?.endsWith('+json') === true;

const fieldsOf = (json: unknown): Fields =>
  typeof json === 'object' && json !== null ? (json as Fields) : {};

/** Fills in the fields that the service accepts a creation without. */
function complete(sent: Fields): CreatePaymentInput & Record<string, unknown> {
  const { merchantPaymentReference, amount, currency } = sent;
  return {
    ...sent,
    merchantPaymentReference:
      typeof merchantPaymentReference === 'string' ? merchantPaymentReference : 'none',
    amount: typeof amount === 'number' ? amount : 0,
    currency: typeof currency === 'string' ? currency : 'none',
  };
}
