// Throws when it is undone.
export default () => ({
  id: 'throws-in-undo',
  version: '1.0.0',
  api: 1,
  summary: 'Throws when it is undone.',
  register(ctx) {
    ctx.own(() => ctx.log.info('the other undo of throws-in-undo ran'))
    ctx.own(() => {
      throw new Error('the undo is broken')
    })
  },
})
