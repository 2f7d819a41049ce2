// Rejects when it starts, after it took something.
export default () => ({
  id: 'rejects-in-start',
  version: '1.0.0',
  api: 1,
  summary: 'Rejects when it starts, after it took something.',
  register(ctx) {
    ctx.own(() => ctx.log.info('given back by rejects-in-start'))
    ctx.onStart(() => Promise.reject(new Error('start is broken')))
  },
})
