/*
 * One order's payment, from the customer's click to its callback: create, record, recover and resolve.
 *
 * The processes below take their steps in every possible order. Each `atomic` block is one step of the store, which
 * is one transaction of its database. A process that dies takes no further step of its call; one that is suspended
 * is one that all others overtake. README.md explains the notation.
 *
 * A line that ends with `guard for …` is a condition without which the store would break that promise.
 */

#ifndef SUSPENDED
#define SUSPENDED 0  /* a process may be suspended between its last look at the clock and the socket */
#endif
#ifndef PEOPLE
#define PEOPLE 0     /* how many people resolve what is unresolved, after looking it up at the service */
#endif
#ifndef HASTY
#define HASTY 0      /* they look without waiting for attention() to list it, and decide: 1 at once, 2 at any time */
#endif
#ifndef LOOKS_UP
#define LOOKS_UP 0   /* recover({ lookUp }) */
#endif
#ifndef SENDS_AGAIN
#define SENDS_AGAIN 0 /* the client has `idempotency`. Here in two steps; the store claims what is unresolved in one */
#endif
#ifndef SAME_PAYMENT
#define SAME_PAYMENT 0 /* the service keeps the promise, and answers a repeated creation with the earlier payment */
#endif
#ifndef OTHER_PROGRAM
#define OTHER_PROGRAM 0 /* another program creates a payment of the same order */
#endif
#define CLAIMS 3     /* how often the payment can be claimed in one run */

#include "order.pml"

mtype:outcome = { NOT_SENT, REFUSED, UNKNOWN, ACCEPTED, ANSWERED }

#define isExpired (state == SENDING && over[lease])

/* ---- The rest of the world ---- */

byte claims;               /* the last fencing token that was given */
bool over[CLAIMS + 1];     /* by claim: its lease has ended, by the database's clock and by its owner's */
bool leaving[CLAIMS + 1];  /* by claim: its owner is between its last look at the clock and the socket */
bool onTheWay[CLAIMS + 1]; /* by claim: its request may still reach the service */
byte payments;             /* how many payments of the order exist at the service, numbered from 1 */

/* ---- What only the promises look at ---- */

bool mayExist;             /* a request went out, and nobody knows that it created nothing */
bool sentAgain;            /* a request went out while another one might have created the payment */
bool sentBody;             /* the body of the last request */
bool sentUnasked;          /* recover() claimed a rejected payment */
bool heard;                /* a callback has come */
bool paidHeard[3];         /* by payment: a callback said that it is paid */
bool isMissed;             /* a callback or an answer has named a payment that is neither the order's nor listed */

inline look() {
  isMissed = isMissed || (number != 0 && isCreated && reference != number && !listed[number])
}

/* ---- The steps of the store ---- */

/* steps.expire */
inline expire() {
  if
  :: isExpired -> state = UNRESOLVED
  :: else
  fi
}

/* steps.claim. A caller without a body is recover(). Sets `me` to the claim's token if it is granted. */
inline claim(hasBody, wanted) {
  if
  :: (claims < CLAIMS                                   /* where a run of the model ends */
      && (hasBody || !isNotOurs)
      && state != SENDING                               /* guard for one_call_at_a_time: someone is sending it */
      && state != UNRESOLVED                            /* guard for never_sent_again: its outcome is unknown */
      && !isCreated                                     /* guard for created_stays: it was accepted */
      && (hasBody || state != REJECTED)                 /* guard for recover_leaves_rejected: no caller would see the answer */
      && (state != RECORDED || !hasBody || body == wanted) /* guard for another_body_is_refused: another payment is recorded */
     ) ->
     state = SENDING;
     claims++;
     me = claims;
     owner = me;
     lease = me;
     attempts++;                                        /* guard for one_payment: a decision about an earlier attempt is recognised */
     body = (hasBody -> wanted : body)
  :: else -> expire()
  fi
}

/* steps.record */
inline record(wanted) {
  if
  :: (true
      && (isNotOurs || state == REJECTED)               /* guard for created_stays: nothing else is recorded anew */
     ) -> state = RECORDED; body = wanted
  :: else
  fi
}

/* backend.finish; for one who is no longer the owner, mergeLateResult (src/store/sending.ts). */
inline finish() {
  if
  :: (true
      && owner == me                                    /* guard for created_stays: a late sender overwrites nothing */
     ) ->
     over[me] = over[me] || result != UNKNOWN; /* its lease matters to nobody any more */
     if
     :: result == NOT_SENT -> end(RECORDED)
     :: result == REFUSED -> end(REJECTED)
     :: result == UNKNOWN -> end(UNRESOLVED)
     :: result == ACCEPTED || result == ANSWERED -> reference = number; end(UNHEARD)
     fi
  :: else ->
     if
     :: result == ACCEPTED || result == ANSWERED -> settle(number, false, false) /* guard for second_is_listed: what exists is never forgotten */
     :: else
     fi
  fi;
  look();
  result = NOT_SENT; number = 0; me = 0
}

/* steps.resolve: REJECTED and RECORDED say that the service has no such payment. */
inline resolve(newState, found) {
  if
  :: (true
      && (state == UNRESOLVED || isExpired)             /* guard for created_stays: a callback was faster than the person */
      && attempts == seen                               /* guard for one_payment: it was sent again since it was looked up */
      && (newState == UNHEARD || over[lease])           /* guard for one_payment: its request may still arrive */
     ) ->
     reference = found;
     mayExist = (newState == REJECTED || (newState == RECORDED && !SENDS_AGAIN) -> false : mayExist);
     end(newState)
  :: else
  fi
}

/* ---- The service ---- */

/* The request of a claim arrives, or is lost. Without an answer, the outcome is unknown. */
inline serve(token) {
  onTheWay[token] = false;
  if
  :: payments < 2 ->
     payments = (SAME_PAYMENT && payments > 0 -> payments : payments + 1);
     if
     :: result = ANSWERED; number = payments
     :: result = ACCEPTED /* an answer without the payment's number */
     :: result = UNKNOWN
     fi
  :: result = REFUSED; mayExist = false
  :: result = NOT_SENT; mayExist = false /* 429 */
  :: result = UNKNOWN
  fi
}

/* What nobody waits for any more. */
active proctype Service() {
  mtype:outcome result;
  byte number;
  do
  :: atomic {
       if
       :: onTheWay[1] -> serve(1)
       :: onTheWay[2] -> serve(2)
       :: onTheWay[3] -> serve(3)
       fi;
       result = NOT_SENT; number = 0
     }
#if OTHER_PROGRAM
  :: atomic { payments < 2 -> payments++ }
#endif
  od
}

/* A lease does not end while its request is under way: the call's deadline is shorter. */
active proctype Clock() {
  do
  :: atomic {
       (lease != 0 && !over[lease] && !onTheWay[lease] && (SUSPENDED || !leaving[lease])) -> over[lease] = true
     }
  od
}

/* Callbacks of any payment, in any order and number, before and after it is paid. */
active proctype Callbacks() {
  byte number;
  bool isSecond;
  do
  :: atomic {
       if
       :: payments >= 1 -> number = 1
       :: payments >= 2 -> number = 2
       fi;
       if
       :: settle(number, false, true)
       :: settle(number, true, true); paidHeard[number] = true
       fi;
       heard = true;
       look();
       number = 0
     }
  od
}

/* ---- Those who use the store ---- */

/* sendIfGranted (src/store/sending.ts). The process may die at any point: it forgets its claim. */
inline sendIfGranted(hasBody, wanted) {
  atomic {
    wasRejected = (state == REJECTED);
    claim(hasBody, wanted);
    sentUnasked = sentUnasked || (wasRejected && !hasBody && me != 0);
    wasRejected = false
  }
  if
  :: me == 0                      /* not granted */
  :: me != 0 -> me = 0            /* dies */
  :: me != 0 -> atomic { finish() } /* did not hear that its claim was granted, and releases it */
  :: me != 0 ->
     if
     :: atomic {
          (true
           && !over[me]                                 /* guard for one_payment: the lease covers the whole call */
          ) -> leaving[me] = true
        }
        if
        :: atomic {
             leaving[me] = false;
             onTheWay[me] = true;
             sentAgain = sentAgain || mayExist;
             mayExist = true;
             sentBody = body
           }
           if
           :: atomic { onTheWay[me] -> serve(me) }
           :: result = UNKNOWN    /* gives up waiting */
           :: me = 0              /* dies */
           fi
        :: atomic { leaving[me] = false; result = NOT_SENT } /* no connection */
        :: atomic { leaving[me] = false; me = 0 } /* dies */
        fi
     :: over[me] -> result = NOT_SENT
     fi;
     if
     :: me != 0 -> atomic { finish() }
     :: atomic { me = 0; result = NOT_SENT; number = 0 } /* dies, or does not reach the store */
     fi
  fi
}

/* A customer who clicks again and again: create(). Or record(), which the merchant's transaction commits. */
proctype Clicks(bool wanted) {
  mtype:outcome result = NOT_SENT;
  byte me, number;
  bool isSecond, wasRejected;
  do
  :: sendIfGranted(true, wanted)
  :: atomic { true -> record(wanted) }
  od
}

/* src/store/recover.ts, again and again. */
active proctype Recover() {
  mtype:outcome result = NOT_SENT;
  byte me, number, seen;
  bool isSecond, wasRejected;
  do
  :: true ->
     atomic { expire() };                               /* guard for nothing_stays_sending: its sender has died */
#if SENDS_AGAIN || LOOKS_UP
     if
     :: atomic {
          (state == UNRESOLVED
           && over[lease]                               /* guard for one_payment: its request may still arrive */
          ) -> seen = attempts
        }
        if
        :: SENDS_AGAIN -> atomic { resolve(RECORDED, 0) }
        :: LOOKS_UP && payments == 0 -> atomic { resolve(RECORDED, 0) }
        :: LOOKS_UP && payments != 0 -> atomic { resolve(UNHEARD, 1) }
        fi;
        seen = 0
     :: else
     fi;
#endif
     if
     :: state == RECORDED -> sendIfGranted(false, false)
     :: else
     fi
  od
}

/* Someone who looks at the list of attention(), then at the service, and later decides. */
#if PEOPLE
active [PEOPLE] proctype Person() {
  byte seen, found;
  do
#if HASTY == 1
  :: atomic {
       state == UNRESOLVED || isExpired -> seen = attempts;
       if
       :: payments == 0 -> resolve(REJECTED, 0)
       :: else -> resolve(UNHEARD, 1)
       fi;
       seen = 0
     }
#endif
  :: atomic {
       ((state == UNRESOLVED || isExpired)
        && (over[lease] || HASTY == 2)                  /* guard for one_payment: its request may still arrive, so it is not listed yet */
       ) -> seen = attempts
     }
     found = (payments > 0 -> 1 : 0);
     if
     :: found == 0 -> atomic { resolve(REJECTED, 0) }
     :: found != 0 -> atomic { resolve(UNHEARD, found) }
     fi;
     atomic { seen = 0; found = 0 }
  od
}
#endif

init {
  atomic {
    over[0] = true;
    run Clicks(false);
    run Clicks(true)
  }
}

/* ---- The promises ---- */

#define isUnderWay(token) (leaving[token] || onTheWay[token])

ltl one_payment { [] (payments <= 1) }
ltl one_call_at_a_time { [] (isUnderWay(1) + isUnderWay(2) + isUnderWay(3) <= 1) }
ltl never_sent_again { [] !sentAgain }
ltl known_or_listed { [] (payments > 0 -> state == SENDING || state == UNRESOLVED || isCreated) }
ltl created_stays { [] (isCreated -> [] isCreated) }
ltl callback_settles { [] (heard -> state == CREATED) }
ltl another_body_is_refused { [] (!isNotOurs && !body -> (!body W state == REJECTED)) }
ltl body_is_what_was_sent { [] (mayExist -> body == sentBody) }
ltl recover_leaves_rejected { [] !sentUnasked }
ltl paid_is_kept { [] (paidHeard[1] || paidHeard[2] -> paidBy != 0) }
ltl one_payer { [] (paidBy == 1 -> [] (paidBy == 1)) }
ltl second_is_listed { [] (!isMissed && (paidHeard[1] && paidHeard[2] -> listed[1] || listed[2])) }
ltl nothing_stays_sending { [] (state == SENDING -> <> (state != SENDING)) }
ltl recorded_is_sent { [] (state == RECORDED -> <> (state != RECORDED || claims == CLAIMS)) }
ltl looked_up_is_decided { [] (state == UNRESOLVED -> <> (state != UNRESOLVED)) }
