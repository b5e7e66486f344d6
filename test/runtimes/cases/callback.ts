import * as api from 'merchant-payments/callback';
import type { CaseGroup } from './case.js';
import { verificationCases } from './verification.js';

export const callback: CaseGroup = { name: 'callback', cases: verificationCases(api) };
