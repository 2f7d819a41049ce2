// Provides a token that it does not list.
export default (kit) => ({
  id: 'foreign-token',
  version: '1.0.0',
  api: 1,
  summary: 'Provides a token that it does not list.',
  register(ctx) {
    ctx.provide(kit.defineToken('models@1'), {})
  },
})
