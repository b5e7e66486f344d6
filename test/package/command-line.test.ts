// What only a process shows, once more with the command line that was installed. What a command does to its
// arguments is tested on the sources.
import '../cli/command-line.test.js';
import '../cli/mock.test.js';
import '../cli/payments.test.js';
