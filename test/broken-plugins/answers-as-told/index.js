// What it is asked it answers as the test says, which runs in the same process; nothing where it says nothing.
const said = (point, ...given) => globalThis.answersAsTold?.[point]?.(...given)

export default (kit) => ({
  id: 'answers-as-told',
  version: '1.0.0',
  api: 1,
  summary: 'What it is asked it answers as a test says.',
  register(ctx) {
    // What it is told it may write down, as the test says.
    globalThis.notesAsTold = ctx.state.collection({
      name: 'told_notes',
      version: 1,
      id: ({ note }) => note,
      indexes: { all: { group: () => 'all' } },
    })
    const add = (point, members, named = { id: 'told' }) =>
      ctx.contribute(kit.definePoint(point), {
        ...named,
        ...Object.fromEntries(members.map((name) => [name, (...given) => said(`${name} of ${point}`, ...given)])),
      })
    add('usage-limits@1', ['refusal'])
    add('session-modes@1', ['mode', 'rules'])
    add('session-holds@1', ['holds'])
    add('session-end-guards@1', ['veto', 'ended'])
    add('action-listeners@1', ['entered', 'unknown'])
    add('delivery-observers@1', ['settled'])
    add('reply-plugins@1', ['address', 'refuse', 'keep', 'target', 'deliver'], { plugin: 'told' })
    add('call-grants@1', ['find'])
    add('skill-guards@1', ['ruling', 'missing'])
    add('reasons@1', ['of'])
    add('subjects@1', ['find'])
    add('secret-references@1', ['of', 'revoke'])
    add('tool-gates@1', ['hidden'])
    add('channel-parts@1', ['metrics', 'veto', 'posted', 'changed', 'left', 'removed', 'sweep'])
    add('session-metadata@1', ['value'], { key: 'told' })
    add('hook-callbacks@1', ['call'], { name: 'told' })
    add('runtime-sections@1', ['collect'], { name: 'told', schema: kit.json() })
    const tells =
      (what, otherwise) =>
      (...given) =>
        said(what, ...given) ?? otherwise
    ctx.contribute(kit.definePoint('metrics@1'), {
      name: 'service_told',
      help: 'Told.',
      type: 'gauge',
      collect: tells('collect of metrics@1', [{ value: 1 }]),
    })
    ctx.contribute(kit.definePoint('runtime-settings@1'), {
      name: 'told_setting',
      schema: kit.object({ level: kit.integer() }),
      initial: tells('initial of runtime-settings@1', { level: 1 }),
      check: tells('check of runtime-settings@1'),
      shown: {
        fields: { told_level: kit.integer() },
        of: (value) => said('shown.of of runtime-settings@1', value) ?? { told_level: value.level },
      },
      change: {
        path: 'told-setting',
        summary: 'Sets what is told.',
        fields: { level: kit.integer() },
        value: ({ level }, now) => said('change.value of runtime-settings@1', level, now) ?? { level },
        example: { level: 2 },
      },
    })
    ctx.contribute(kit.definePoint('derivation-profiles@1'), {
      profile: 'told',
      version: 1,
      check: tells('check of derivation-profiles@1'),
      fingerprint: tells('fingerprint of derivation-profiles@1', 'told'),
      derive: async ({ material }) =>
        said('derive of derivation-profiles@1') ?? { type: 'completed', result: material.asset },
    })
    // Also nothing at all, where the test says that.
    const asks =
      (what, otherwise) =>
      (...given) =>
        globalThis.answersAsTold?.[what] === undefined ? otherwise : said(what, ...given)
    ctx.contribute(kit.definePoint('derivation-subjects@1'), {
      type: 'told',
      struct: kit.object({ type: kit.literal('told') }),
      key: asks('key of derivation-subjects@1', 'told:1'),
      resolve: asks('resolve of derivation-subjects@1', { fingerprint: 'told', words: 'told' }),
      attach: asks('attach of derivation-subjects@1'),
    })
    ctx.contribute(kit.definePoint('transcribers@1'), {
      id: 'told',
      media_types: ['audio/wav'],
      plan: asks('plan of transcribers@1', 'nothing is told'),
      transcribe: asks('transcribe of transcribers@1', { type: 'transcript', text: 'told' }),
    })
    ctx.contribute(kit.definePoint('asset-normalisers@1'), {
      id: 'told',
      media_types: ['text/x-told', 'text/plain'],
      normalise: async (file) => asks('normalise of asset-normalisers@1', file)(file),
    })
    ctx.contribute(kit.definePoint('model-providers@1'), {
      id: 'told',
      summary: 'Makes what a test says.',
      default_model: 'told',
      capabilities: {
        matrix_version: 2,
        multimodal_input: false,
        native_web_search: false,
        image_generation: false,
        image_edit: false,
        audio_generation: false,
        transcription: false,
      },
      connect: () => ({ readiness: () => ({ state: 'ok', code: 'ready', message: 'It is.' }), async *stream() {} }),
    })
    ctx.contribute(kit.definePoint('route-backends@1'), {
      id: 'told',
      providers: ['told'],
      capabilities: ['image_generation', 'audio_generation'],
    })
    ctx.contribute(kit.definePoint('media-makers@1'), {
      provider: 'told',
      base_url: 'http://127.0.0.1:9',
      headers: asks('headers of media-makers@1', {}),
      pictures: { make: asks('pictures.make of media-makers@1') },
      speech: { make: asks('speech.make of media-makers@1') },
    })
    ctx.contribute(kit.definePoint('account-refreshers@1'), {
      id: 'told',
      refresh: tells('refresh of account-refreshers@1'),
    })
    // Of a kind of its own, where the test names one.
    const ofKind = (point, members) => {
      const kind = said(`kind of ${point}`)
      if (kind !== undefined) add(point, members, { kind })
    }
    ofKind('question-settlers@1', ['asker', 'answer', 'cancel', 'expire'])
    ofKind('schedule-payloads@1', ['check', 'dispatch'])
    ctx.contribute(kit.definePoint('asset-references@1'), {
      domain: 'told',
      namings: [
        {
          count: (...given) => said('namings.count of asset-references@1', ...given) ?? 0,
          list: (...given) => said('namings.list of asset-references@1', ...given) ?? [],
        },
      ],
    })
    ctx.contribute(kit.definePoint('interceptors@1'), {
      id: 'told',
      rank: 1,
      wants: (event) => globalThis.answersAsTold?.[event] !== undefined,
      intercept: ({ event }) => said(event),
    })
  },
})
