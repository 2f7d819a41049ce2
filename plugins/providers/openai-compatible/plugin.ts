import { createTurns, definePlugin, object } from '../../../core/plugin.js'
import { ModelProviders, textOnly } from '../../execution/models/contract.js'
import { createConnection } from './connection.js'
import { createTransport } from './transport.js'

export default definePlugin({
  id: 'openai-compatible',
  version: '1.0.0',
  api: 1,
  summary: 'Models behind the chat-completions protocol: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, OpenAI.',
  config: object({}),
  register(ctx) {
    const transport = createTransport()
    const inTurn = createTurns()
    ctx.own(() => transport.close())
    ctx.contribute(ModelProviders, {
      id: 'openai_compatible',
      summary: 'Any server that speaks the chat-completions protocol.',
      capabilities: textOnly,
      secrets_of: ['open_ai', 'open_router', 'x_ai', 'google'],
      connect: (options) =>
        createConnection(options, {
          clock: ctx.clock,
          ids: ctx.ids,
          transport,
          inTurn,
          redact: ctx.secrets.redact,
        }),
      generation: ['reasoning.effort', 'response_format.structured_json'],
    })
  },
})
