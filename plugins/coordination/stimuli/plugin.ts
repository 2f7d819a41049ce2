import { definePlugin, Host, object } from '../../../core/plugin.js'
import { SpawnObservers } from '../../agents/sidechains/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { ScheduleObservers } from '../../execution/schedules/contract.js'
import { Tools } from '../../execution/tools/contract.js'
import { Reasons } from '../../operator/explanations/contract.js'
import { ChannelParts, Channels } from '../channels/contract.js'
import { TurnObservers } from '../floor/contract.js'
import { Stimuli } from './contract.js'
import { createStimulus } from './create.js'
import { stimulusReasons } from './explained.js'
import { ownerObserver, stimulusPart } from './part.js'
import { declareStimuli } from './record/store.js'
import { stimulusRoutes } from './routes.js'
import { scheduleObserver, spawnObserver } from './sources.js'
import { createChannelStimulus } from './tools.js'
import { createWorker } from './worker.js'

export default definePlugin({
  id: 'stimuli',
  version: '1.0.0',
  api: 1,
  summary: 'What agents, schedules and others say in channels by themselves, within bounds.',
  needs: { channels: Channels, host: Host, runs: Runs },
  provides: [Stimuli],
  config: object({}),
  register(ctx, { channels, host, runs }) {
    const { clock, ids, log, state } = ctx
    const store = declareStimuli(state)
    const worker = createWorker({ store, channels, state, clock, log })
    const create = createStimulus({ store, channels, ids, poke: worker.poke })
    const sources = { store, runs, channels, create, log }
    ctx.provide(Stimuli, { create: (tx, draft) => create(tx, draft).stimulus_id })
    ctx.contribute(ChannelParts, stimulusPart({ store, poke: worker.poke, now: () => clock.now() }))
    ctx.contribute(Reasons, stimulusReasons(store, clock))
    ctx.contribute(TurnObservers, ownerObserver(store))
    ctx.contribute(ScheduleObservers, scheduleObserver(sources))
    ctx.contribute(SpawnObservers, spawnObserver(sources))
    ctx.contribute(Tools, createChannelStimulus({ channels, create }))
    ctx.routes(...stimulusRoutes({ state, store, channels, create }))
    ctx.onStart(() => host.whenActing(worker.begin))
  },
})
