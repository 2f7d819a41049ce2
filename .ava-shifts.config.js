// All of the short tests, many files in one process: `npm test`.
export default {
  files: ['dist/test/shifts/*.test.js'],
  timeout: '20m',
  concurrency: 3,
  nodeArguments: ['--enable-source-maps'],
}
