/*
 * The callbacks of one order: `process` runs the merchant's work for each change of a payment's status.
 *
 * Two instances receive any change, any number of times, in any order. With LEASE 0 the work runs in a transaction
 * of Postgres or MySQL (src/store/sql/transaction-process.ts); with LEASE 1 outside of one, under a lease, as in
 * memory, SQLite and Redis (src/sqlite/lease-process.ts, src/store/lease/lease.ts). Both decide by `judge`
 * (src/store/change-steps.ts). README.md explains the notation.
 */

#ifndef LEASE
#define LEASE 0
#endif
#ifndef CUT
#define CUT 0        /* the connection of a transaction may be lost while its work runs on */
#endif
#ifndef SUSPENDED
#define SUSPENDED 0  /* a process may be suspended for longer than its lease */
#endif
#ifndef SENDS_MAIL
#define SENDS_MAIL 0 /* the work of change 2 also sends a mail, which no rollback takes back */
#endif
#ifndef PARKS
#define PARKS 0      /* parkAfter: 1, and a person who replays */
#endif

/* Payment 1 is authorized (change 1), then paid (change 2). The order's second payment is paid (change 3). */
#define paymentOf(change) (change == 3 -> 2 : 1)
#define timeOf(change) (change == 2 -> 2 : 1)
#define saysPaid(change) (change != 1)

mtype:judgement = { RUN, DUPLICATE, REFUSED }
mtype:kept = { NO_FAILURE, FAILED, PARKED }

/* ---- What the store holds about changes (change-steps.ts, SeenChange); arrays are indexed by change ---- */

byte paidBy;               /* the number of the payment that has paid the order; 0 for none */
bool isProcessed[4];
byte newest[3];            /* by payment: the time of its newest processed change */
mtype:kept failures[4] = NO_FAILURE;
byte holder;               /* the instance that has locked the order's row, or holds the lease on it; 0 for none */
bool isOrphaned;           /* the holder of the lease has died */

/* ---- The merchant's own data ---- */

bool isDone[4];            /* the work's writes were made */
bool isDoneTwice;          /* those of some change were made more than once */
byte shown;                /* the change that the order shows: the last one that was `current` */

/* ---- What only the promises look at ---- */

byte working;              /* how many runs of the work are under way */
bool isRecordedTwice;      /* a change was recorded as processed that had been already */
byte mails;                /* how many mails were sent; 2 stands for more */
bool acknowledged[4];      /* answered with 200: the service delivers it no more */
bool isOnceFailed[4];      /* its work has thrown, and the store has answered that it keeps the failure */
bool isHeardPaid[3];       /* by payment: a callback that says that it is paid was answered, not with `busy`, and its failure stored */

#define me (_pid + 1)

/* ---- The steps of the store ---- */

/* judge, toVerdict: the last line that applies decides. */
inline judge() {
  isOlder = newest[paymentOf(change)] > timeOf(change);
  isCurrent = (true
    && !isOlder                                         /* guard for order_shows_the_newest: an older change came late */
    && (paidBy == 0 || paidBy == paymentOf(change))     /* guard for order_shows_the_newest: another payment has paid the order */
  );
  verdict = RUN;
  verdict = (failures[change] == PARKED && !isReplay -> REFUSED : verdict);
  verdict = (isProcessed[change] -> DUPLICATE : verdict) /* guard for recorded_once: it was processed */
}

/* Of steps.settle, what decides which changes are current. */
inline settle() {
  if
  :: (saysPaid(change)
      && paidBy == 0                                    /* guard for one_payer: the first paid payment pays the order */
     ) -> paidBy = paymentOf(change)
  :: else
  fi
}

/* What the callback says of its payment. */
inline learn() {
  settle();                                             /* guard for paid_is_kept: whatever becomes of its work */
  isHeardPaid[paymentOf(change)] = isHeardPaid[paymentOf(change)] || saysPaid(change)
}

/* ChangeStatements.record: the change is processed, and its failure forgotten. */
inline recordChange() {
  isRecordedTwice = isRecordedTwice || isProcessed[change];
  isProcessed[change] = true;
  if
  :: (true
      && !isOlder                                       /* guard for newest_stays: an older change came late */
     ) -> newest[paymentOf(change)] = timeOf(change)
  :: else
  fi;
  failures[change] = NO_FAILURE                         /* guard for processed_is_not_listed: its failure is over */
}

/* ChangeStatements.keep: the failure of the work. */
inline keep() {
  failures[change] = (PARKS -> PARKED : FAILED);        /* guard for failure_is_kept: the work has thrown */
  isOnceFailed[change] = true
}

/* The merchant's writes: `if (current) …` and what belongs to this change alone. */
inline write() {
  isDoneTwice = isDoneTwice || isDone[change];
  isDone[change] = true;
  shown = (isCurrent -> change : shown)
}

inline mail() {
  mails = (SENDS_MAIL && change == 2 && mails < 2 -> mails + 1 : mails)
}

inline receive() {
  if
  :: change = 1
  :: change = 2
  :: change = 3
  fi;
  if
  :: PARKS && failures[change] == PARKED -> isReplay = true
  :: isReplay = false
  fi
}

inline forget() {
  change = 0; isReplay = false; isOlder = false; isCurrent = false; verdict = RUN
}

#if !LEASE

/* The transaction was lost: TransactionProcess.#failApart. */
inline failApart() {
  if
  :: atomic {
       holder == 0 -> judge();
       if
       :: (true
           && verdict != DUPLICATE                      /* guard for processed_is_not_listed: it was committed after all */
          ) -> learn(); keep()
       :: else
       fi
     }
  :: true /* dies, or reports to onError that this is not stored either */
  fi
}

/* TransactionProcess.#inTransaction. Only what is in one `atomic` block with `holder == me` is committed. */
proctype Instance() {
  byte change;
  bool isReplay, isOlder, isCurrent;
  mtype:judgement verdict = RUN;
  do
  :: atomic { receive() }
     if
     :: true                          /* waits too long: busy, and delivered again */
     :: atomic {
          (true
           && holder == 0                               /* guard for one_work_at_a_time: the order's row is locked */
          ) -> holder = me; judge();
          if
          :: verdict == RUN -> working++
          :: else -> learn(); acknowledged[change] = true; holder = 0
          fi
        }
        if
        :: verdict != RUN
        :: verdict == RUN ->
           if
           :: atomic { mail() }       /* the work completes */
              if
              :: atomic {             /* COMMIT */
                   holder == me -> working--; write(); learn(); recordChange(); holder = 0
                 }
                 if
                 :: acknowledged[change] = true
                 :: true              /* dies before it answers */
                 :: failApart()       /* does not hear that COMMIT has succeeded */
                 fi
              :: atomic { holder != me -> working-- } /* the transaction was lost, and COMMIT fails */
                 failApart()
              :: atomic { working--; holder = (holder == me -> 0 : holder) } /* dies */
              fi
           :: atomic {                /* the work throws: its writes are undone, and its failure is committed */
                holder == me -> working--; learn(); keep(); holder = 0
              }
           :: atomic { holder != me -> working-- } /* the work throws, and the transaction was lost */
              failApart()
           :: atomic { working--; holder = (holder == me -> 0 : holder) } /* dies: the database rolls back */
           fi
        fi
     fi;
     atomic { forget() }
  od
}

/* The database ends a transaction whose connection is lost, though its process works on. */
active proctype Database() {
  do
  :: atomic { CUT && holder != 0 && working > 0 -> holder = 0 }
  od
}

#else

/* LeaseProcess, MemoryBackend.process */
proctype Instance() {
  byte change;
  bool isReplay, isOlder, isCurrent;
  mtype:judgement verdict = RUN;
  do
  :: atomic {
       receive(); judge(); learn();
       if
       :: verdict == DUPLICATE -> acknowledged[change] = true; change = 0
       :: else ->
          if
          :: holder != 0 -> change = 0                  /* guard for one_work_at_a_time: the others are busy */
          :: else ->
             if
             :: verdict == REFUSED -> acknowledged[change] = true; change = 0
             :: verdict == RUN -> holder = me; isOrphaned = false; working++
             fi
          fi
       fi
     }
     if
     :: change == 0
     :: change != 0 ->
        if
        :: atomic { working--; write() } /* what the work has written stays */
           if
           :: atomic {
                true ->
                if
                :: (true
                    && holder == me               /* guard for recorded_once: the lease was lost to another one */
                   ) -> judge(); recordChange(); holder = 0; acknowledged[change] = true
                :: else               /* LEASE_LOST */
                fi
              }
           :: atomic { isOrphaned = (holder == me -> true : isOrphaned) } /* dies */
           fi
        :: atomic {                   /* the work throws, before or after its writes */
             working--;
             if
             :: write()
             :: true
             fi;
             if
             :: holder == me -> keep(); holder = 0
             :: else
             fi
           }
        :: atomic { working--; isOrphaned = (holder == me -> true : isOrphaned) } /* dies */
        fi
     fi;
     atomic { forget() }
  od
}

/* A lease ends when its holder has died: a living one renews it, unless it is suspended. */
active proctype Clock() {
  do
  :: atomic { holder != 0 && (isOrphaned || SUSPENDED) -> holder = 0; isOrphaned = false }
  od
}

#endif

init {
  atomic {
    run Instance();
    run Instance()
  }
}

/* ---- The promises ---- */

#define isKept(change) (failures[change] != NO_FAILURE)
#define isAnswered(change) (acknowledged[change] -> isDone[change] || isKept(change))

ltl done_once { [] !isDoneTwice }
ltl recorded_once { [] !isRecordedTwice }
ltl done_means_processed { [] ((isProcessed[1] == isDone[1]) && (isProcessed[2] == isDone[2]) && (isProcessed[3] == isDone[3])) }
ltl mailed_once { [] (mails <= 1) }
ltl one_work_at_a_time { [] (working <= 1) }
ltl acknowledged_is_done_or_listed { [] (isAnswered(1) && isAnswered(2) && isAnswered(3)) }
ltl paid_is_kept { [] (isHeardPaid[1] || isHeardPaid[2] -> paidBy != 0) }
ltl one_payer { [] (paidBy == 1 -> [] (paidBy == 1)) && [] (paidBy == 2 -> [] (paidBy == 2)) }
ltl order_shows_the_newest { [] ((isProcessed[2] && paidBy == 1 -> shown == 2) && (isProcessed[3] && paidBy == 2 -> shown == 3)) }
ltl failure_is_kept { [] ((isOnceFailed[1] -> isKept(1) || isProcessed[1]) && (isOnceFailed[2] -> isKept(2) || isProcessed[2])) }
ltl processed_is_not_listed { [] (!(isProcessed[1] && isKept(1)) && !(isProcessed[2] && isKept(2)) && !(isProcessed[3] && isKept(3))) }
ltl newest_stays { [] (newest[1] == 2 -> [] (newest[1] == 2)) }
ltl order_gets_free { [] (holder != 0 -> <> (holder == 0)) }
