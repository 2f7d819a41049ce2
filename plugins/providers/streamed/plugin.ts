import { createTurns, definePlugin, doc, object, optional, string, type Json } from '../../../core/plugin.js'
import { RunObservers } from '../../execution/engine/contract.js'
import { recordedAsk } from './cassette/asked-once.js'
import { cassetteErrors } from './cassette/errors.js'
import { maskedJson } from './cassette/mask.js'
import { createPlayer } from './cassette/play.js'
import { createRecorder, recordedTransport } from './cassette/record.js'
import { createConnection } from './connection.js'
import { StreamedModels } from './contract.js'
import { createTransport } from './transport/transport.js'

const file = (sentence: string) => optional(doc(string({ min: 1, max: 4_096 }), sentence))

export default definePlugin({
  id: 'streamed-models',
  version: '1.0.0',
  api: 1,
  summary: 'Calls model servers that stream their answers over HTTP, for the providers that speak to them.',
  provides: [StreamedModels],
  config: object({
    record_cassette: file('File to which each exchange with a model server is written, without secrets.'),
    play_cassette: file('File with such exchanges that answers in place of model servers.'),
  }),
  flags: { record_cassette: 'record-cassette', play_cassette: 'play-cassette' },
  register(ctx) {
    const { clock, secrets, config, log } = ctx
    if (config.record_cassette !== undefined && config.play_cassette !== undefined)
      throw cassetteErrors.cassette_ambiguous()
    const real = createTransport()
    const recorder =
      config.record_cassette === undefined
        ? undefined
        : createRecorder({ file: config.record_cassette, log, redact: secrets.redact })
    const recorded = recorder === undefined ? real : recordedTransport(real, recorder)
    const player =
      config.play_cassette === undefined ? undefined : createPlayer(real, config.play_cassette, secrets.redact)
    const transport = player?.transport ?? recorded
    ctx.own(() => transport.close())
    for (const cassette of [recorder, player])
      if (cassette !== undefined) {
        ctx.health(cassette.health)
        ctx.onStart(() => cassette.open())
      }
    if (recorder !== undefined)
      ctx.contribute(RunObservers, {
        name: 'cassette',
        active: true,
        observe({ kind, name, outcome, request, answer }) {
          if (kind !== 'tool') return
          // A model's own exchange says more.
          const tool: Json = JSON.parse(JSON.stringify({ name, outcome, input: request, output: answer }))
          recorder.add({ tool: maskedJson(tool, secrets.redact) })
        },
      })
    const parts = { clock, transport, inTurn: createTurns(), redact: secrets.redact }
    ctx.provide(StreamedModels, {
      connect: (options, protocol) => createConnection(options, protocol, parts),
      once(outbound, request) {
        if (player !== undefined) return player.ask(request)
        return recorder === undefined ? outbound.request(request) : recordedAsk(outbound.request, recorder)(request)
      },
    })
  },
})
