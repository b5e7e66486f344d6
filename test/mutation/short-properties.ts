import fc from 'fast-check';

// Properties run for thousands of mutants, so each gets only enough time to detect obvious errors. The example
// tests beside it must detect the rest.
fc.configureGlobal({ interruptAfterTimeLimit: 200 });
