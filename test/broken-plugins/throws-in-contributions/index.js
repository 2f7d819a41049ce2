// What it contributes throws, each thing for a session of its own.
const broken = (what) => {
  throw new Error(`${what} is broken`)
}
const rejecting = async (what) => broken(what)

export default (kit) => {
  const point = (name) => kit.definePoint(name)
  return {
    id: 'throws-in-contributions',
    version: '1.0.0',
    api: 1,
    summary: 'What it contributes throws.',
    register(ctx) {
      const on = (session, id) => (id === session ? broken(`the ${session}`) : undefined)
      ctx.contribute(point('run-observers@1'), {
        name: 'broken',
        active: true,
        observe: ({ session_id }) => on('observer', session_id),
      })
      ctx.contribute(point('session-holds@1'), { id: 'broken', holds: (id) => on('hold', id) })
      ctx.contribute(point('session-end-guards@1'), { id: 'broken', veto: ({ session_id }) => on('guard', session_id) })
      ctx.contribute(point('session-metadata@1'), { key: 'broken', value: (id) => on('metadata', id) })
      ctx.contribute(point('action-listeners@1'), {
        id: 'broken',
        entered: (_tx, { session_id }) => on('listener', session_id),
      })
      ctx.contribute(point('metrics@1'), {
        name: 'service_broken',
        help: 'Broken.',
        type: 'gauge',
        collect: () => broken('the metric'),
      })
      ctx.contribute(point('completion-checks@1'), {
        type: 'workspace_file',
        refusal: () => Promise.resolve(),
        mark: () => rejecting('the check'),
        isMet: () => rejecting('the check'),
      })
    },
  }
}
