/** Version of this package; a test holds it to package.json. */
export const version = '0.0.0';

/** Tells the service which SDK is calling, and nothing of the merchant's machine. */
export const userAgent = `merchant-payments/${version}`;
