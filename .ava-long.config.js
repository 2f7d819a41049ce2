import { setFlagsFromString } from 'node:v8'
import { environmentVariables } from './.ava-folder.js'

// Young objects get more room than a daemon has: most tests leave only those, and their collection takes a twentieth.
// Threads take it from their process, and not from arguments.
for (const flag of ['--min-semi-space-size=16', '--max-semi-space-size=64']) setFlagsFromString(flag)

// What takes longer than the wait for `npm cit` allows: `npm run test:long`.

/** Those that take minutes, the longest first: begun last, one of them would go on alone at the end. */
const longest = [
  'sidechains/tree-kills',
  'faults/errors',
  'faults/crash-again',
  'faults/crash.long',
  'assets/kills',
  'faults/falls',
  'streamed/step-kills',
  'inspect/flips',
  'faults/mutants',
  'whole/kills',
  'assets/flips',
  'mcp/conformance',
  'normalisers/hostile',
  'derivations/kills',
  'normalisers/audio-corpus',
  'whole/worst-text',
  'golden/golden-root',
  'whole/roots',
  'model/model',
  'dispatch/kills',
  'observations/purges',
  'boards/kills',
]
const rank = (file) => (longest.findIndex((name) => file.includes(name)) + longest.length + 1) % (longest.length + 1)

export default {
  environmentVariables,
  files: ['dist/test/**/*.long.test.js'],
  sortTestFiles: (a, b) => rank(a) - rank(b),
  // Without any test that ends: the first three files take many minutes each.
  timeout: '40m',
  // More than there are cores: tests wait for the disk and for other processes.
  concurrency: 3,
  nodeArguments: ['--enable-source-maps'],
}
