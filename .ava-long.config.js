import { environmentVariables } from './.ava-folder.js'
import { alone } from './dist/test/support/shifts/alone.js'

// What takes longer than the wait for `npm cit` allows: `npm run test:long`.

const rank = (file) => (alone.findIndex((name) => file.endsWith(`/${name}`)) + alone.length + 1) % (alone.length + 1)

export default {
  environmentVariables,
  files: [...alone.map((name) => `dist/test/**/${name}`), 'dist/test/shifts/*.long.test.js'],
  sortTestFiles: (a, b) => rank(a) - rank(b),
  // Without any test that ends: the first three files take many minutes each.
  timeout: '40m',
  // More than there are cores: tests wait for the disk and for other processes.
  concurrency: 4,
  workerThreads: false,
  // Young objects get more room than a daemon has: most tests leave only those, and their collection takes a twentieth.
  nodeArguments: ['--enable-source-maps', '--min-semi-space-size=16', '--max-semi-space-size=64'],
}
