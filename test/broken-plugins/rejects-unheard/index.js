// Drops a promise that rejects.
export default () => ({
  id: 'rejects-unheard',
  version: '1.0.0',
  api: 1,
  summary: 'Drops a promise that rejects.',
  register(ctx) {
    ctx.onStart(() => {
      Promise.reject(new Error('nobody hears this'))
    })
  },
})
