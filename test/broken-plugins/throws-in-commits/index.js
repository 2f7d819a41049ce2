// Whatever it is told in a commit it notes, and then throws; what follows from an ended learning never ends.
const points = {
  'learning-users@1': 'ended',
  'run-memory-users@1': 'remembered',
  'spawn-observers@1': 'spawned',
  'turn-observers@1': 'granted',
}

export default (kit) => ({
  id: 'throws-in-commits',
  version: '1.0.0',
  api: 1,
  summary: 'What it does in commits of others throws.',
  register(ctx) {
    const notes = ctx.state.collection({
      name: 'broken_notes',
      version: 1,
      id: ({ note }) => note,
      indexes: { all: { group: () => 'all' } },
    })
    const breaking = (what) => (tx) => {
      tx.put(notes, { note: what })
      throw new Error(`${what} is broken`)
    }
    for (const [point, what] of Object.entries(points))
      ctx.contribute(kit.definePoint(point), {
        id: 'broken',
        [what]: breaking(what),
        ...(what === 'ended' && { settled: () => new Promise(() => {}) }),
      })
    ctx.contribute(kit.definePoint('schedule-observers@1'), {
      id: 'broken',
      created: breaking('created'),
      settled: breaking('settled'),
    })
    ctx.routes(
      kit.defineRoute({
        id: 'broken.notes',
        method: 'GET',
        path: '/v1/broken/notes',
        summary: 'What it has noted.',
        access: 'read',
        reply: kit.jsonReply(kit.integer()),
        handler: () => notes.count('all', 'all'),
      }),
    )
  },
})
