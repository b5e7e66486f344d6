/*
 * The row of an order, and what a callback or an answer makes of it: steps.end and steps.settle of src/store/steps.ts.
 * The order has at most two payments at the service, numbered 1 and 2.
 */

mtype:rowState = { ELSEWHERE, SENDING, UNHEARD, CREATED }

mtype:rowState state = ELSEWHERE;
byte owner;       /* the claim that may store its end; 0 for none */
byte reference;   /* the number of the payment; 0 if unknown */
byte paidBy;      /* the number of the payment that has paid the order; 0 for none */
bool listed[3];   /* the list of second payments, by number */

#define isCreated (state == UNHEARD || state == CREATED)

/* steps.end: the end of an attempt. */
inline end(newState) {
  state = newState;
  owner = 0
}

/* steps.settle: a payment exists, says a callback. isOld: this change, or a newer one of its payment, was processed. */
inline settle(number, isPaid, isOld) {
  isSecond = listed[number];
  /* Of an order that the store did not create, the latest payment counts until one has paid it. */
  reference = (state == ELSEWHERE && (reference == 0 || (isPaid && paidBy == 0) || (paidBy == 0 && !(isOld))) -> number : reference);
  if
  :: (isPaid
      && (paidBy == 0 || paidBy == number)              /* guard for one_payer: the first paid payment pays the order */
     ) -> paidBy = number
  :: isPaid && paidBy != 0 && paidBy != number -> isSecond = true /* guard for second_is_listed: it is paid too */
  :: else
  fi;
  if
  :: state != ELSEWHERE && (!isCreated || reference == 0) -> reference = number; end(CREATED)
  :: isCreated && reference == number -> state = CREATED
  :: isCreated && reference != 0 && reference != number -> isSecond = true /* another one is the order's */
  :: else
  fi;
  listed[number] = isSecond;
  isSecond = false
}
