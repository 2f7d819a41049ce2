// Each provider breaks its contract in the way that its name tells.
const thrown = () => {
  throw new Error('it has no words')
}
const ready = () => ({ state: 'ok', code: 'ready', message: 'It listens.' })
const usage = { input_tokens: 1, output_tokens: 1 }
const stop = { type: 'done', outcome: 'stop', usage }
const part = { type: 'part', part: { type: 'text', text: 'Well.' } }
async function* stream() {
  yield part
  yield stop
}
const call = { type: 'part', part: { type: 'tool_call', id: 'c1', name: 'list_skills', input: {} } }
const delta = (text) => ({ type: 'text_delta', text })
const answers =
  (...events) =>
  () => ({
    readiness: ready,
    async *stream() {
      yield* events
    },
  })
let asked = 0
/** A member that is another one each time it is asked for. */
const turning = (given, name, ...values) => {
  let at = 0
  return Object.defineProperty({ ...given }, name, {
    enumerable: true,
    get: () => values[Math.min((at += 1), values.length) - 1],
  })
}
const bare = (given, name) =>
  Object.defineProperty({ ...given }, name, {
    enumerable: true,
    get: () => {
      throw null
    },
  })
const partOf = (part) => ({ type: 'part', part })
const text = { type: 'text', text: 'Well.' }
const nested = (levels) => (levels === 0 ? {} : { in: nested(levels - 1) })
/** Each part is made anew for each answer. */
const gives = (make) => () => ({
  readiness: ready,
  async *stream() {
    yield make()
    yield stop
  },
})

const connections = {
  never_done: answers(part),
  ready_thrown: () => ({ readiness: thrown, stream }),
  ready_bare: () => ({
    readiness: () => {
      throw null
    },
    stream,
  }),
  ready_later: () => ({ readiness: () => ((asked += 1) > 1 ? thrown() : ready()), stream }),
  ready_promise: () => ({ readiness: async () => ready(), stream }),
  ready_rejected: () => ({ readiness: async () => thrown(), stream }),
  ready_number: () => ({ readiness: () => 5, stream }),
  ready_odd: () => ({ readiness: () => ({ ...ready(), state: 'odd' }), stream }),
  ready_code: () => ({ readiness: () => ({ ...ready(), state: 'error', code: 'Bad Code!' }), stream }),
  ready_raw: () => ({
    readiness: () => ({ state: 'error', code: 'asleep', message: `a\x1b[31mred\nnew line ${'x'.repeat(2_000)}` }),
    stream,
  }),
  ready_acts: () => ({ readiness: () => ({ ...ready(), state: 'warning', action: 'Wake\nit.' }), stream }),
  ready_more: () => ({ readiness: () => ({ ...ready(), more: 10, toJSON: undefined }), stream }),
  connect_thrown: thrown,
  connect_nothing: () => undefined,
  connect_promise: async () => ({ readiness: ready, stream }),
  connect_mute: () => ({ readiness: ready }),
  stream_odd: () => ({
    readiness: ready,
    async *stream() {
      yield { type: 'banana' }
    },
  }),
  stream_thrown: () => ({ readiness: ready, stream: thrown }),
  stream_async: () => ({ readiness: ready, stream: async () => stream() }),
  stream_rejected: () => ({ readiness: ready, stream: () => Promise.reject(new Error('unheard')) }),
  stream_list: () => ({ readiness: ready, stream: () => [part, stop] }),
  stream_nothing: () => ({ readiness: ready, stream: () => undefined }),
  stream_reader: () => ({ readiness: ready, stream: () => ({ [Symbol.asyncIterator]: () => undefined }) }),
  stream_number: () => ({ readiness: ready, stream: () => 5 }),
  stream_results: () => ({ readiness: ready, stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => 5 }) }) }),
  stream_next: () => ({ readiness: ready, stream: () => ({ [Symbol.asyncIterator]: () => ({ next: thrown }) }) }),
  stream_bare: () => ({
    readiness: ready,
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(null) }) }),
  }),
  end_thrown: () => ({
    readiness: ready,
    stream: () => {
      const events = stream()
      return { [Symbol.asyncIterator]: () => ({ next: () => events.next(), return: thrown }) }
    },
  }),
  shows: () => ({
    readiness: ready,
    async *stream({ messages, tools, generation }) {
      yield { type: 'part', part: { type: 'text', text: JSON.stringify({ messages, tools, generation }) } }
      yield stop
    },
  }),
  writes: () => ({
    readiness: ready,
    async *stream({ messages, tools, generation }) {
      Reflect.set(messages[0].content[0], 'text', 'CHANGED')
      Reflect.set(messages, 0, { role: 'user', content: [{ type: 'text', text: 'CHANGED' }] })
      Reflect.set(tools[0], 'description', 'CHANGED')
      Reflect.set(tools[0].parameters, 'title', 'CHANGED')
      Reflect.set(tools, 0, { ...tools[0], description: 'CHANGED' })
      Reflect.set(generation.response_format?.schema ?? generation, 'title', 'CHANGED')
      yield part
      yield stop
    },
  }),
  writes_later: () => ({
    readiness: ready,
    async *stream() {
      const later = structuredClone(part)
      yield later
      later.part.text = 'CHANGED'
      yield stop
    },
  }),
  ends_other: answers(call, { ...stop, outcome: 'other' }),
  ends_paused: answers(call, { ...stop, outcome: 'paused' }),
  ends_calls: answers(part, { ...stop, outcome: 'tool_calls' }),
  ends_failed: answers(part, { ...stop, failure: { class: 'overloaded', retryable: true, message: 'It is busy.' } }),
  shows_more: answers(delta('Well.'), stop),
  shows_else: answers(delta('Well, '), delta('no.'), part, stop),
  shows_same: answers(delta('W\re'), delta('ll .\n'), part, stop),
  turns_text: gives(() => partOf(turning(text, 'text', 'Well.', 123))),
  turns_type: gives(() => partOf(turning(text, 'type', 'text', 'banana'))),
  turns_call: gives(() => partOf(turning({ ...call.part, text: 'Well.' }, 'type', 'text', 'tool_call'))),
  turns_part: gives(() => turning({ type: 'part' }, 'part', text, 5)),
  turns_delta: gives(() => turning({ type: 'part', part: text, text: 5 }, 'type', 'part', 'text_delta')),
  odd_metadata: gives(() => partOf(turning(text, 'metadata', { n: 5n }))),
  odd_deep: gives(() => partOf({ ...text, metadata: nested(200) })),
  odd_large: gives(() => partOf({ ...text, metadata: { more: 'x'.repeat(26_000_000) } })),
  odd_number: gives(() => partOf({ ...call.part, input: { list: [1, NaN] } })),
  odd_class: gives(() => partOf({ ...call.part, input: { when: new Date(0) } })),
  odd_more: gives(() => partOf({ ...text, more: 5n })),
  odd_text: gives(() => partOf(bare(text, 'text'))),
  odd_delta: gives(() => bare({ type: 'text_delta' }, 'text')),
  odd_part: gives(() => partOf(Object.assign(Object.create({ more: 1 }), text))),
  odd_event: gives(() => bare({}, 'type')),
  odd_result: () => ({
    readiness: ready,
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: async () => bare({}, 'value') }) }),
  }),
  odd_limits: ({ tellLimits }) => {
    tellLimits('m', [
      { of: 5n, remaining: 1 },
      turning({ remaining: 0 }, 'of', 'requests'),
      { of: 'x'.repeat(300), remaining: 1 },
    ])
    tellLimits(5n, [{ of: 'requests', remaining: 1 }])
    tellLimits('m', [{ of: 'tokens', remaining: 0, resets_in_ms: 'soon' }])
    return { readiness: ready, stream }
  },
  empty: () => ({
    readiness: ready,
    async *stream() {
      while (true) yield { type: 'text_delta', text: '' }
    },
  }),
  long: () => ({
    readiness: ready,
    async *stream() {
      while (true) yield { type: 'text_delta', text: 'x'.repeat(100_000) }
    },
  }),
}
const others = {
  searches: { searches: thrown },
  window: { context_window: () => ({ tokens: 'many' }) },
  family: { family: { rule: 'be told', has: thrown } },
}

export default ({ definePoint }) => ({
  id: 'breaks-the-models',
  version: '1.0.0',
  api: 1,
  summary: 'Its model providers break their contract.',
  register(ctx) {
    const provider = (id, more) => ({
      id,
      summary: 'Breaks its contract.',
      default_model: 'm',
      capabilities: {
        matrix_version: 2,
        multimodal_input: false,
        native_web_search: true,
        image_generation: false,
        image_edit: false,
        audio_generation: false,
        transcription: false,
      },
      connect: () => ({ readiness: ready, stream }),
      ...more,
    })
    const add = (...providers) => ctx.contribute(definePoint('model-providers@1'), ...providers)
    add(...Object.entries(connections).map(([id, connect]) => provider(id, { connect })))
    add(...Object.entries(others).map(([id, more]) => provider(id, more)))
  },
})
