/** Where the README's handler listens. */
export const DOCUMENTED_URL = 'http://127.0.0.1:3000/callbacks/payments';
