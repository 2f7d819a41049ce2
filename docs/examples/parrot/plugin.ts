/**
 * Two ways out of the daemon: a model provider that repeats what it was told, and a reply plugin that drops each output
 * into a folder. The guide explains both.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock, Kit, Point } from '../../../core/plugin.js'
import type { ReplyPlugin } from '../../../plugins/execution/deliveries/contract.js'
import type { ModelProvider, ModelRequest, RouteCapabilities } from '../../../plugins/execution/models/contract.js'

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

export default ({ defaulted, definePlugin, doc, object, string }: Kit) =>
  definePlugin({
    id: 'parrot',
    version: '1.0.0',
    api: 1,
    summary: 'A model that repeats, and boxes for what it says.',
    config: object({ boxes: doc(defaulted(string({ min: 1 }), 'boxes'), 'Folder in which each box is a folder.') }),
    register(ctx) {
      ctx.contribute(ModelProviders, parrot, myna(ctx.clock))
      ctx.contribute(ReplyPlugins, postbox(ctx.config.boxes))
    },
  })
