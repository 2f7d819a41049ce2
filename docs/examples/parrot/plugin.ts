/**
 * Two ways out of the daemon: model providers that repeat what they were told or call tools, and a reply plugin that
 * drops each output into a folder; and a limit of what runs may use. The guide explains all three.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock, Json, Kit, Point } from '../../../core/plugin.js'
import type { ReplyPlugin } from '../../../plugins/execution/deliveries/contract.js'
import type { ModelProvider, ModelRequest, RouteCapabilities } from '../../../plugins/execution/models/contract.js'
import type { UsageLimit } from '../../../plugins/operator/usage/contract.js'

// part: provider
const ModelProviders: Point<ModelProvider> = { point: 'model-providers@1' }

const textOnly: RouteCapabilities = {
  matrix_version: 2,
  multimodal_input: false,
  native_web_search: false,
  image_generation: false,
  image_edit: false,
  audio_generation: false,
  transcription: false,
}

const lastWords = ({ messages }: ModelRequest): string => {
  const said = messages.findLast((message) => message.role === 'user' && message.beside_results !== true)
  return (said?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

const parrot: ModelProvider = {
  id: 'parrot',
  summary: 'Repeats the last words of the user.',
  default_model: 'grey',
  capabilities: textOnly,
  connect: () => ({
    readiness: () => ({ state: 'ok', code: 'ready', message: 'It listens.' }),
    async *stream(request) {
      const text = lastWords(request)
      yield { type: 'text_delta', text }
      yield { type: 'part', part: { type: 'text', text } }
      yield { type: 'done', outcome: 'stop', usage: { input_tokens: text.length, output_tokens: text.length } }
    },
  }),
}
// end

// part: streaming
const myna = ({ sleep }: Clock): ModelProvider => ({
  id: 'myna',
  summary: 'Repeats the last words of the user, one after the other.',
  default_model: 'hill',
  capabilities: textOnly,
  connect: () => ({
    readiness: () => ({ state: 'ok', code: 'ready', message: 'It listens.' }),
    async *stream(request, signal) {
      const text = lastWords(request)
      for (const word of text.split(/(?<= )/u)) {
        // A model that is reached over a network hands its signal to the request in the same way.
        if (!(await sleep(20, signal))) {
          const failure = { class: 'aborted', retryable: false, message: 'It was hushed.' } as const
          return yield { type: 'done', outcome: 'failed', failure }
        }
        yield { type: 'text_delta', text: word }
      }
      yield { type: 'part', part: { type: 'text', text } }
      yield { type: 'done', outcome: 'stop', usage: { input_tokens: text.length, output_tokens: text.length } }
    },
  }),
})
// end

// part: tools
/** What the model wrote; a text that is no JSON goes along, so that the model is told so. */
const inputOf = (written: string): { input: Json; unparsed?: string } => {
  try {
    return { input: JSON.parse(written) }
  } catch {
    return { input: {}, unparsed: written }
  }
}

const raven: ModelProvider = {
  id: 'raven',
  summary: 'Calls the tool that the user names, as in `roll_dice {"sides": 6}`, and tells what came of it.',
  default_model: 'northern',
  capabilities: textOnly,
  connect: () => ({
    readiness: () => ({ state: 'ok', code: 'ready', message: 'It listens.' }),
    async *stream(request) {
      const { messages, tools } = request
      const usage = { input_tokens: 1, output_tokens: 1 } // What the server counted.
      const last = messages.findLast((message) => message.role !== 'user' || message.beside_results !== true)
      const [, wish = '', written = '{}'] = /^(\S+)\s*(.+)?$/u.exec(lastWords(request)) ?? []
      const tool = last?.role === 'user' ? tools.find(({ name }) => name === wish) : undefined
      if (tool !== undefined) {
        const thought = `That is for ${tool.name}.`
        yield { type: 'reasoning_delta', text: thought }
        yield { type: 'part', part: { type: 'reasoning', text: thought, metadata: { signature: 'of the server' } } }
        const id = `call_${messages.length}`
        yield { type: 'part', part: { type: 'tool_call', id, name: tool.name, ...inputOf(written) } }
        return yield { type: 'done', outcome: 'tool_calls', usage }
      }
      const results = last?.role === 'tool' ? last.content : []
      const told = results.map(
        ({ name, output, is_error }) => `${name}${is_error ? ' failed' : ''}: ${JSON.stringify(output)}`,
      )
      const text = told.join('\n') || `I know ${tools.map(({ name }) => name).join(', ')}.`
      yield { type: 'text_delta', text }
      yield { type: 'part', part: { type: 'text', text } }
      yield { type: 'done', outcome: 'stop', usage }
    },
  }),
}
// end

// part: reply
const ReplyPlugins: Point<ReplyPlugin> = { point: 'reply-plugins@1' }

const postbox = (folder: string): ReplyPlugin => ({
  plugin: 'postbox',
  address: () => undefined,
  refuse: (box) => (/^[a-z]{1,40}$/u.test(box) ? undefined : 'must be the name of a box: 1 to 40 small letters'),
  target: (box) => `postbox:${box}`,
  async deliver({ address: box, delivery_id, content }, signal) {
    try {
      await mkdir(path.join(folder, box), { recursive: true })
      // Named by the delivery: an attempt that a crash cut off writes the same file again.
      await writeFile(path.join(folder, box, `${delivery_id}.txt`), content, { signal })
      return { type: 'delivered' }
    } catch {
      return { type: 'retry', code: 'postbox_not_writable', uncertain: true }
    }
  },
})
// end

// part: limit
const UsageLimits: Point<UsageLimit> = { point: 'usage-limits@1' }

const voice = (most: number): UsageLimit => ({
  id: 'parrot_voice',
  refusal: ({ usage }) =>
    (usage?.calls ?? 0) >= most ? `parrot_hoarse: More than ${most} calls in a run are too many.` : undefined,
})
// end

export default ({ defaulted, definePlugin, doc, integer, object, string }: Kit) =>
  definePlugin({
    id: 'parrot',
    version: '1.0.0',
    api: 1,
    summary: 'A model that repeats, and boxes for what it says.',
    config: object({
      boxes: doc(defaulted(string({ min: 1 }), 'boxes'), 'Folder in which each box is a folder.'),
      calls_per_run: doc(defaulted(integer({ min: 1 }), 1000), 'Most calls of a model that a run may make.'),
    }),
    register(ctx) {
      ctx.contribute(ModelProviders, parrot, myna(ctx.clock), raven)
      ctx.contribute(ReplyPlugins, postbox(ctx.config.boxes))
      ctx.contribute(UsageLimits, voice(ctx.config.calls_per_run))
    },
  })
