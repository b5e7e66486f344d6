import { createSecretKey } from 'node:crypto';

// High entropy, and long enough that a piece of twelve characters is a piece of nothing else. The
// special characters lie so close together that an escaped spelling shares no piece with the plain one.

const special = 'q"7Z<é\\w&9"k/X\'e>2"M\\ß&4"t/H<';

/** The merchant's account at the service. */
export const apiKey = 'key-Wm3vT8xQzR5nLc2J';
export const apiSecret = `Jt6${special}sD1-pV0yGb7uKf4hNa`;
export const authorization = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;

/** What callbacks are signed with, in each form it can be given. */
export const signingText = `whsec-Yx9${special}mB3-rC8zTq5wEj1oLd`;
export const signingBytes = Buffer.from(
  'f3a1c87e05d29b64fe1083bd57a92c6e41d07fb8962ee5c31a4f80d7639bac02',
  'hex',
);
const signingKeyBytes = Buffer.from('Pk2-hU7sXv4bQn9cZe6gRt1mWj8y', 'utf8');
export const signingKey = createSecretKey(signingKeyBytes);

/** A customer's data, in the body of a request or of a callback. */
export const customer = 'customer-Dn5kWq8rJx2vTs7hBm4zLp9c-Gy3fRu6eKa1';

/** The merchant's reference of a payment. It may identify a customer, so it is only where a person has to look. */
export const reference = 'order-Qx4mVn8tHd1w-Ks6rLz3pYb9c-Fu2gJe5aWo7';

export const planted = {
  'the API key': apiKey,
  'the API secret': apiSecret,
  'the Authorization header': authorization.slice('Basic '.length),
  'the signing secret as text': signingText,
  'the signing secret as bytes': signingBytes,
  'the signing secret as a KeyObject': signingKeyBytes,
  'a body': customer,
  'a reference': reference,
} satisfies Record<string, string | Uint8Array>;

export type PlantedName = keyof typeof planted;
