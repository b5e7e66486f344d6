import { version } from '../protocol/version.js';

/** Tells the service which SDK is calling, and nothing of the merchant's machine. */
export const userAgent = `merchant-payments/${version}`;
