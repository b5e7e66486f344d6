import type { MockPayment } from '../state/payments.js';
import type {
  viewAttempt,
  viewDelivery,
  viewEvent,
  viewFaults,
  viewPaymentDetail,
  viewRequest,
  viewSettings,
  viewState,
} from './control-view.js';

// What the control interface answers, for the dashboard and the command line.

/** How many of each kind the state has. */
export const SHOWN = 200;

export type ControlSettings = ReturnType<typeof viewSettings>;
export type ControlState = ReturnType<typeof viewState>;
export type ControlPayment = MockPayment;
export type ControlPaymentDetail = ReturnType<typeof viewPaymentDetail>;
export type ControlRequest = ReturnType<typeof viewRequest>;
export type ControlDelivery = ReturnType<typeof viewDelivery>;
export type ControlAttempt = ReturnType<typeof viewAttempt>;
export type ControlFaults = ReturnType<typeof viewFaults>;
export type ControlFault = ControlFaults['faults'][number];
export type ControlEvent = ReturnType<typeof viewEvent>;

/** The body of an error of the control interface. */
export interface ControlError {
  code: string;
  message: string;
  /** With `INVALID_REQUEST`: the field that is invalid, for example `fault.delayMs`. */
  option?: string | undefined;
}
