// Throws when its timer fires.
export default () => ({
  id: 'throws-in-timer',
  version: '1.0.0',
  api: 1,
  summary: 'Throws when its timer fires.',
  register(ctx) {
    ctx.onStart(() => {
      ctx.clock.after(1, () => {
        throw new Error('the timer is broken')
      })
    })
  },
})
