// What its timer begins fails later.
export default () => ({
  id: 'rejects-in-timer',
  version: '1.0.0',
  api: 1,
  summary: 'What its timer begins fails later.',
  register(ctx) {
    ctx.onStart(() => {
      ctx.clock.after(1, async () => {
        await ctx.clock.sleep(1)
        throw new Error('the work of the timer is broken')
      })
    })
  },
})
