// Is configured with a field that it does not know.
export default (kit) => ({
  id: 'bad-config',
  version: '1.0.0',
  api: 1,
  summary: 'Is configured with a field that it does not know.',
  config: kit.object({ speed: kit.defaulted(kit.integer(), 1) }),
  register() {},
})
