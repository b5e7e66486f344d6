import fc from 'fast-check';

// A mutant is judged a few thousand times over: a property gets long enough to notice what is plain,
// and the examples beside it have to notice the rest.
fc.configureGlobal({ interruptAfterTimeLimit: 200 });
