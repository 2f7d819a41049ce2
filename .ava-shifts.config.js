import { environmentVariables } from './.ava-folder.js'

// All of the short tests, many files in one process: `npm test`. Processes and not threads: Node aborts all of them
// when a thread ends while its HTTP parser reads (v8::ToLocalChecked).
export default {
  environmentVariables,
  files: ['dist/test/shifts/*.test.js', '!dist/test/shifts/*.long.test.js'],
  timeout: '20m',
  // More than there are cores: tests wait for the disk, for other processes and for time to pass.
  concurrency: 4,
  workerThreads: false,
  // Young objects get more room than a daemon has: most tests leave only those, and their collection takes a twentieth.
  // Code is made fast only when it was run for long: most of it is run once for each test and never again.
  nodeArguments: [
    '--enable-source-maps',
    '--min-semi-space-size=16',
    '--max-semi-space-size=64',
    '--interrupt-budget=1000000',
  ],
}
