// What takes longer than the wait for `npm cit` allows: `npm run test:long`.
export default {
  files: ['dist/test/**/*.long.test.js'],
  timeout: '20m',
  nodeArguments: ['--enable-source-maps'],
}
