// Contributes one key twice.
export default (kit) => ({
  id: 'duplicate-key',
  version: '1.0.0',
  api: 1,
  summary: 'Contributes one key twice.',
  register(ctx) {
    const Words = kit.definePoint('words@1', (word) => word)
    ctx.contribute(Words, 'once')
    ctx.contribute(Words, 'once')
  },
})
