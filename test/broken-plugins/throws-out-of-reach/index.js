// Throws in a timer that the daemon does not know.
export default () => ({
  id: 'throws-out-of-reach',
  version: '1.0.0',
  api: 1,
  summary: 'Throws in a timer that the daemon does not know.',
  register(ctx) {
    ctx.onStart(() => {
      setTimeout(() => {
        throw new Error('thrown out of reach')
      }, 1)
    })
  },
})
