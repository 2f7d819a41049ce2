// Has a configuration field without a default.
export default (kit) => ({
  id: 'no-default',
  version: '1.0.0',
  api: 1,
  summary: 'Has a configuration field without a default.',
  config: kit.object({ speed: kit.integer() }),
  register() {},
})
