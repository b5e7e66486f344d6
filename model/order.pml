/*
 * The row of an order, and the two steps that both models take: steps.end and steps.settle of src/store/steps.ts.
 * The order has at most two payments at the service, numbered 1 and 2.
 */

mtype:rowState = { NOTHING, ELSEWHERE, RECORDED, SENDING, UNRESOLVED, REJECTED, UNHEARD, CREATED }

mtype:rowState state = NOTHING;
bool body;        /* which of two bodies is stored */
byte owner;       /* the claim that may store its end; 0 for none */
byte lease;       /* the claim whose lease is stored; 0 for none */
byte attempts;
byte reference;   /* the number of the payment; 0 if unknown */
byte paidBy;      /* the number of the payment that has paid the order; 0 for none */
bool listed[3];   /* the list of second payments, by number */

#define isCreated (state == UNHEARD || state == CREATED)
#define isNotOurs (state == NOTHING || state == ELSEWHERE)

/* steps.end: the end of an attempt, or a decision. What stays unresolved keeps its lease, for resolve(). */
inline end(newState) {
  state = newState;
  owner = 0;
  lease = (newState == UNRESOLVED -> lease : 0)
}

/* steps.settle: a payment exists, says a callback or a late answer. */
inline settle(number, isPaid, isCallback) {
  isSecond = listed[number];
  if
  :: (isPaid
      && (paidBy == 0 || paidBy == number)              /* guard for one_payer: the first paid payment pays the order */
     ) -> paidBy = number
  :: isPaid && paidBy != 0 && paidBy != number -> isSecond = true /* guard for second_is_listed: it is paid too */
  :: else
  fi;
  if
  :: isNotOurs -> state = ELSEWHERE
  :: !isNotOurs && (!isCreated || (reference == 0 && number != 0)) ->
     reference = number;
     if
     :: isCallback -> end(CREATED)
     :: else -> end(UNHEARD)
     fi
  :: isCreated && number != 0 && reference == number -> state = (isCallback -> CREATED : state)
  :: isCreated && number != 0 && reference != 0 && reference != number -> isSecond = true /* guard for second_is_listed: another one is the order's */
  :: else
  fi;
  listed[number] = isSecond && number != 0;
  isSecond = false
}
