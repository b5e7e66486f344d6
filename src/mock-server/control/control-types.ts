import type { MockPayment } from '../state/payments.js';
import type * as view from './control-view.js';

// What the control interface answers, for the dashboard and the command line.

/** How many of each kind the state has. */
export const SHOWN = 200;

export type ControlSettings = ReturnType<typeof view.viewSettings>;
export type ControlState = ReturnType<typeof view.viewState>;
export type ControlPayment = MockPayment;
export type ControlPaymentDetail = ReturnType<typeof view.viewPaymentDetail>;
export type ControlRequest = ReturnType<typeof view.viewRequest>;
export type ControlDelivery = ReturnType<typeof view.viewDelivery>;
export type ControlAttempt = ReturnType<typeof view.viewAttempt>;
export type ControlFaults = ReturnType<typeof view.viewFaults>;
export type ControlFault = ControlFaults['faults'][number];
export type ControlEvent = ReturnType<typeof view.viewEvent>;

/** The body of an error of the control interface. */
export interface ControlError {
  code: string;
  message: string;
  /** With `INVALID_REQUEST`: the field that is invalid, for example `fault.delayMs`. */
  option?: string | undefined;
}
