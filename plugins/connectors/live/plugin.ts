import { definePlugin, Host } from '../../../core/plugin.js'
import { Approvals } from '../../execution/approvals/contract.js'
import { DeliveryObservers, Outbox } from '../../execution/deliveries/contract.js'
import { Interception } from '../../execution/interception/contract.js'
import { Questions } from '../../execution/questions/contract.js'
import { ModelDeltas, Runs, RunUpdated } from '../../execution/runs/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { Connectors } from '../registry/contract.js'
import { LiveKinds, LiveReplies } from './contract.js'
import { createLive } from './live.js'
import { declareStore } from './store.js'

export default definePlugin({
  id: 'live-replies',
  version: '1.0.0',
  api: 1,
  summary: 'Typing signs, drafts of answers, and buttons for approvals and questions at chat platforms.',
  needs: { host: Host, runs: Runs, sessions: Sessions, outbox: Outbox, approvals: Approvals, questions: Questions },
  wants: { connectors: Connectors, interception: Interception },
  provides: [LiveReplies],
  register(ctx, services) {
    const { events } = ctx
    const { host, connectors } = services
    const live = createLive({ ...services, ctx, store: declareStore(ctx.state), kinds: ctx.view(LiveKinds) })
    const { watch, drafts, ends } = live
    ctx.provide(LiveReplies, live.replies)
    ctx.contribute(DeliveryObservers, { id: 'live', settled: ends.settled })
    ctx.onStart(() =>
      host.whenActing(() => {
        const undo = [
          events.on(RunUpdated, (_, { run = '' }) => watch.look(run), { wanted: watch.isUsed }),
          events.onDeltas(
            ModelDeltas,
            ({ subject, kind, text }) => kind === 'model_text_delta' && drafts.hear(subject, text),
            {
              wanted: drafts.isListening,
            },
          ),
          connectors()?.onChange(() => watch.lookAtAll()) ?? (() => {}),
        ]
        live.begin()
        return () => {
          undo.forEach((end) => end())
          return live.close()
        }
      }),
    )
  },
})
