// Never finishes its start.
export default () => ({
  id: 'never-starts',
  version: '1.0.0',
  api: 1,
  summary: 'Never finishes its start.',
  register(ctx) {
    ctx.onStart(() => new Promise(() => {}))
  },
})
