import { definePlugin, Host } from '../../../core/plugin.js'
import { Runs } from '../../execution/runs/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { Tools } from '../../execution/tools/contract.js'
import { Assets } from '../../media/assets/contract.js'
import { Reasons, Subjects } from '../../operator/explanations/contract.js'
import { ChannelParts, Channels } from '../channels/contract.js'
import { TurnObservers } from './contract.js'
import { channelSubjects, floorReasons } from './explained.js'
import { floorPart } from './part.js'
import { declareFloor } from './record/store.js'
import { floorRoutes } from './routes.js'
import { floorTools } from './tools.js'
import { createWorker } from './worker.js'

export default definePlugin({
  id: 'floor',
  version: '1.0.0',
  api: 1,
  summary: 'Who speaks in a channel: sessions are asked in turn to answer what people say.',
  needs: { channels: Channels, host: Host, runs: Runs, sessions: Sessions },
  wants: { assets: Assets },
  register(ctx, { assets, channels, host, runs, sessions }) {
    const { clock, ids, log, state } = ctx
    const store = declareFloor(state)
    const observers = ctx.observers(TurnObservers)
    const worker = createWorker({
      store,
      channels,
      runs,
      sessions,
      assets,
      state,
      ids,
      log,
      clock,
      leaving: host.leaving,
      granted(tx, message_id, session_ids) {
        observers.tell(tx, 'hearing of a turn', (observer) => observer.granted(tx, message_id, session_ids))
      },
    })
    const { consider, abandon } = worker
    ctx.contribute(ChannelParts, floorPart({ store, channels, consider, abandon }))
    ctx.routes(...floorRoutes({ store, channels }))
    ctx.contribute(Tools, ...floorTools({ channels }))
    const explained = { store, channels, runs, sessions, failure: worker.failure }
    ctx.contribute(Subjects, channelSubjects(explained))
    ctx.contribute(Reasons, floorReasons(explained))
    ctx.onStart(() => {
      const undo = runs.onEnded(worker.ended)
      const end = host.whenActing(worker.begin)
      return async () => {
        undo()
        await end()
      }
    })
  },
})
