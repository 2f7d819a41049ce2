// Throws when it is looked at.
export default () => ({
  id: 'throws-in-health-check',
  version: '1.0.0',
  api: 1,
  summary: 'Throws when it is looked at.',
  register(ctx) {
    ctx.health({
      id: 'broken-check',
      check: () => {
        throw new Error('the check is broken')
      },
    })
  },
})
