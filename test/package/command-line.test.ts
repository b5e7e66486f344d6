// What the command line does as a process, once more with the one that was installed.
import '../cli/callback-send.test.js';
import '../cli/check.test.js';
import '../cli/command-line.test.js';
import '../cli/mock.test.js';
import '../cli/payments.test.js';
