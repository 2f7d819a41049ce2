import { createCount, createOutbound, definePlugin, Metrics, object } from '../../../core/plugin.js'
import { Models, RouteBackends } from '../../execution/models/contract.js'
import { UsageBooks } from '../../operator/usage/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { StreamedModels } from '../../providers/streamed/contract.js'
import { Transcribers } from '../derivations/contract.js'
import { createHeard, TranscriptionStatus } from './heard.js'
import { createTranscriber, providers } from './transcriber.js'

export default definePlugin({
  id: 'transcription',
  version: '1.0.0',
  api: 1,
  summary: 'Has speech written down by servers of model routes that speak the protocol of OpenAI.',
  needs: { models: Models, streamed: StreamedModels },
  wants: { books: UsageBooks },
  config: object({}),
  register(ctx, { models, streamed, books }) {
    const { clock, ids, secrets, state } = ctx
    const outbound = createOutbound({ clock, connections: 8 })
    ctx.own(() => outbound.close())
    const calls = createCount({
      name: 'service_transcriptions_total',
      help: 'Sounds that a server was asked to write down.',
      labels: ['outcome'],
    })
    const heard = createHeard(calls)
    const transcriber = createTranscriber({
      models,
      outbound: { request: (request) => streamed.once(outbound, request) },
      clock,
      ids,
      redact: secrets.redact,
      refusal: () => books()?.refusal({}),
      book: (asked) => state.commit((tx) => void books()?.book(tx, { ...asked, purpose: 'transcription' })),
      told: heard.told,
    })
    ctx.contribute(RouteBackends, { id: 'transcription', providers, capabilities: ['transcription'] })
    ctx.contribute(Transcribers, transcriber)
    ctx.contribute(Metrics, calls.metric)
    ctx.contribute(StatusSections, {
      name: 'transcription',
      schema: TranscriptionStatus,
      collect: () => heard.status(transcriber.plan()),
    })
    ctx.health(heard.health)
  },
})
