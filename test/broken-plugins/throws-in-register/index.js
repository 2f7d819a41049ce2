// Throws while it declares.
export default (kit) => ({
  id: 'throws-in-register',
  version: '1.0.0',
  api: 1,
  summary: 'Throws while it declares.',
  register(ctx) {
    ctx.contribute(kit.definePoint('leftovers@1'), 'left behind')
    throw new TypeError('register is broken')
  },
})
