// Throws whenever it hears its own event.
export default (kit) => ({
  id: 'throws-in-listener',
  version: '1.0.0',
  api: 1,
  summary: 'Throws whenever it hears its own event.',
  register(ctx) {
    const Rang = kit.defineEvent({ name: 'rang', summary: 'A bell rang.', data: kit.object({}) })
    ctx.onStart(() => {
      ctx.events.on(Rang, () => {
        throw new Error('the listener is broken')
      })
      ctx.events.on(Rang, async () => {
        throw new Error('the listener is broken later')
      })
      ctx.events.emit(Rang, {}, () => ({}))
    })
  },
})
