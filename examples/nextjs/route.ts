// Payment callbacks in a Next.js application: app/callbacks/payments/route.ts

import { callbackHandler } from 'merchant-payments/fetch';
import { settle, store } from '../memory-shop.js';

export const POST = callbackHandler({ store, onPayment: settle });
