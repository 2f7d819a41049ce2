import { createTurns, definePlugin } from '../../../core/plugin.js'
import { createConnection } from './connection.js'
import { StreamedModels } from './contract.js'
import { createTransport } from './transport.js'

export default definePlugin({
  id: 'streamed-models',
  version: '1.0.0',
  api: 1,
  summary: 'Calls model servers that stream their answers over HTTP, for the providers that speak to them.',
  provides: [StreamedModels],
  register(ctx) {
    const { clock, secrets } = ctx
    const transport = createTransport()
    ctx.own(() => transport.close())
    const parts = { clock, transport, inTurn: createTurns(), redact: secrets.redact }
    ctx.provide(StreamedModels, { connect: (options, protocol) => createConnection(options, protocol, parts) })
  },
})
