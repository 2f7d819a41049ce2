// Does what it can to undo the commits that it is told in. Of a revoked learning the reason says what it does.
const refusing = () => {
  throw new Error('looked at')
}
const traps = new Proxy({}, { get: () => refusing })

const write = (record) => {
  for (const key of Object.keys(record)) record[key] = 'MUTATED'
}

const acts = {
  bare: () => {
    throw Object.create(null)
  },
  trapped: () => {
    throw new Proxy(new Error('trapped'), traps)
  },
  unreadable: () => {
    throw Object.defineProperty(new Error(), 'message', { get: refusing })
  },
  circular: () => {
    const error = new Error('circular')
    throw Object.assign(error, { cause: error })
  },
  long: () => {
    throw new Error('long'.repeat(1_000_000))
  },
  large: (put) => put('large', 'y'.repeat(30_000_000)),
  many: (put) => {
    for (let n = 0; n < 1000; n += 1) put(`note ${n}`, 'y'.repeat(30_000))
  },
  outer: (_, learning) => write(learning),
  inner: (_, learning) => write(learning.scope),
  asynchronous: async () => {
    await undefined
    throw new Error('too late')
  },
  thenable: () => new Proxy({}, { has: () => true, get: () => refusing }),
}

export default (kit) => ({
  id: 'hostile-in-commits',
  version: '1.0.0',
  api: 1,
  summary: 'What it does in commits of others is meant to harm.',
  register(ctx) {
    const notes = ctx.state.collection({
      name: 'broken_notes',
      version: 1,
      id: ({ note }) => note,
      indexes: { all: { group: () => 'all' } },
    })
    const contribute = (point, methods) => ctx.contribute(kit.definePoint(point), { id: 'hostile', ...methods })
    contribute('learning-users@1', {
      ended(tx, learning) {
        tx.put(notes, { note: 'told' })
        return acts[learning.revoked_reason]((note, text) => tx.put(notes, { note, text }), learning)
      },
    })
    const writing = (tx, ...told) => told.filter((one) => typeof one === 'object').forEach(write)
    contribute('run-memory-users@1', { remembered: writing })
    contribute('spawn-observers@1', { spawned: writing })
    contribute('turn-observers@1', { granted: writing })
    contribute('schedule-observers@1', { created: writing, settled: writing })
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
      kit.defineRoute({
        id: 'broken.bare',
        method: 'GET',
        path: '/v1/broken/bare',
        summary: 'Throws what cannot be made text.',
        access: 'read',
        reply: kit.jsonReply(kit.integer()),
        handler: acts.bare,
      }),
    )
  },
})
