import { environmentVariables } from './.ava-folder.js'

// What takes longer than the wait for `npm cit` allows: `npm run test:long`.
export default {
  environmentVariables,
  files: ['dist/test/**/*.long.test.js'],
  timeout: '20m',
  // More than there are cores: tests wait for the disk and for other processes.
  concurrency: 3,
  nodeArguments: ['--enable-source-maps'],
}
