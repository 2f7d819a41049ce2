// Declares later than it may.
export default (kit) => ({
  id: 'asynchronous-register',
  version: '1.0.0',
  api: 1,
  summary: 'Declares later than it may.',
  async register(ctx) {
    await Promise.resolve()
    ctx.contribute(kit.definePoint('leftovers@1'), 'left behind')
  },
})
