// What it is asked by those who look at answers themselves it answers with nothing, or throws what has no stack.
const nothing = async () => undefined

export default (kit) => ({
  id: 'returns-nothing',
  version: '1.0.0',
  api: 1,
  summary: 'Everything that it contributes returns nothing.',
  register(ctx) {
    const add = (point, value) => ctx.contribute(kit.definePoint(point), value)
    const tool = (name, run) =>
      add('tools@1', {
        name,
        description: 'Returns what is no outcome.',
        input: kit.object({}),
        effect: 'read',
        permission: 'allow',
        parallel: true,
        timeout_ms: 1000,
        sandbox: 'read_only',
        run,
      })
    tool('says_nothing', nothing)
    tool('says_typ', () => ({ typ: 'result', output: 1 }))
    tool('gives_no_asset', () => ({ type: 'result', output: 1, files: [{}] }))
    tool('gives_no_json', () => ({ type: 'result', output: 10n }))
    tool('throws_text', () => {
      throw 'oops'
    })
    add('hook-callbacks@1', { name: 'nothing', call: async () => ({ decision: 7 }) })
    add('metrics@1', { name: 'service_nothing', help: 'Nothing.', type: 'gauge', collect: () => [{ value: 'x' }] })
    add('reply-plugins@1', {
      plugin: 'nothing',
      address: () => undefined,
      refuse: () => undefined,
      target: () => 'nothing',
      deliver: nothing,
    })
    add('derivation-profiles@1', { profile: 'nothing', version: 1, derive: nothing })
    add('asset-normalisers@1', { id: 'nothing', media_types: ['model/nothing'], normalise: nothing })
    add('model-providers@1', {
      id: 'nothing',
      summary: 'Says nothing.',
      default_model: 'none',
      capabilities: { matrix_version: 2 },
      connect: () => ({
        readiness: () => ({ state: 'ok', code: 'ready', message: 'It listens.' }),
        async *stream() {
          yield { type: 'nothing' }
        },
      }),
    })
  },
})
