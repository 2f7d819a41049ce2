// What it is asked by those who look at answers themselves it answers with nothing, or throws what has no stack.
const nothing = async () => undefined
const endless = () => new Proxy({}, { get: endless, ownKeys: () => ['a'], getOwnPropertyDescriptor: described })
const described = () => ({ value: 1, enumerable: true, configurable: true })

export default (kit) => ({
  id: 'returns-nothing',
  version: '1.0.0',
  api: 1,
  summary: 'Everything that it contributes returns nothing.',
  register(ctx) {
    const add = (point, value) => ctx.contribute(kit.definePoint(point), value)
    const tool = (name, run, effect = 'once') =>
      add('tools@1', {
        name,
        description: 'Returns what is no outcome.',
        input: kit.object({}),
        effect,
        permission: 'allow',
        parallel: true,
        timeout_ms: 200,
        sandbox: 'read_only',
        run,
      })
    tool('says_nothing', nothing)
    tool('says_typ', () => ({ typ: 'result', output: 1 }))
    tool('gives_no_asset', () => ({ type: 'result', output: 1, files: [{}] }))
    const outputs = {
      nothing: undefined,
      bigint: 10n,
      symbol: Symbol('x'),
      call: () => 1,
      nan: [NaN],
      promise: nothing(),
    }
    for (const [name, output] of Object.entries(outputs)) tool(`output_${name}`, () => ({ type: 'result', output }))
    tool('output_deep', () => ({ type: 'result', output: endless() }))
    tool('looks_at_nothing', () => ({ type: 'result' }), 'read')
    const files = { text: 'x', call: () => 1, object: { a: 1n }, deep: endless(), named: [{ asset_id: 'x', size: 1n }] }
    for (const [name, given] of Object.entries(files))
      tool(`files_${name}`, () => ({ type: 'result', output: 1, files: given }))
    const question = { header: 'h', question: 'q', multi_select: false, options: [{ label: 'a', description: 1n }] }
    tool('asks_no_text', () => ({ type: 'ask', ask: { questions: [question] } }))
    const applies = (name, apply) => tool(`applies_${name}`, () => ({ type: 'result', output: 1, apply }))
    applies('later', nothing)
    applies('badly', () => {
      throw 'oops'
    })
    tool('never_ends', () => new Promise(() => {}))
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
      capabilities: {
        matrix_version: 2,
        multimodal_input: false,
        native_web_search: false,
        image_generation: false,
        image_edit: false,
        audio_generation: false,
        transcription: false,
      },
      connect: () => ({
        readiness: () => ({ state: 'ok', code: 'ready', message: 'It listens.' }),
        async *stream() {
          yield { type: 'nothing' }
        },
      }),
    })
  },
})
