// Looks like a plugin and is none.
export default {
  id: 'wrong-shape',
  version: '1.0.0',
  api: 2,
  summary: 'Speaks a later version of the contract.',
  register() {},
}
