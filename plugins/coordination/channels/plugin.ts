import { createUnreadable, definePlugin, Host, object } from '../../../core/plugin.js'
import { Runs } from '../../execution/runs/contract.js'
import { SessionAgents, SessionMemberships, Sessions, SessionSnapshotTaken } from '../../execution/sessions/contract.js'
import { AssetReferences, Assets } from '../../media/assets/contract.js'
import { Boards } from '../../media/boards/contract.js'
import { Capabilities } from '../../operator/status/contract.js'
import { createChanges } from './changes.js'
import { ChannelParts, Channels } from './contract.js'
import { memberRoutes } from './member-routes.js'
import { createMembers } from './members.js'
import { messageRoutes } from './message-routes.js'
import { createFollowing, createNames } from './names.js'
import { createPost } from './posting.js'
import { createReact } from './reacting.js'
import { createReads, messageIds } from './reading.js'
import { channelAssets } from './record/assets.js'
import { declareChannels } from './record/store.js'
import { createRemoval } from './removal.js'
import { channelRoutes } from './routes.js'
import { createSearch } from './searching.js'
import { createViews } from './views.js'

/** Channels of a session that others are told of. */
const mostOfSession = 100

export default definePlugin({
  id: 'channels',
  version: '1.0.0',
  api: 1,
  summary: 'Public conversations of sessions and people.',
  needs: { host: Host, runs: Runs, sessions: Sessions },
  wants: { agents: SessionAgents, assets: Assets, boards: Boards },
  provides: [Channels],
  config: object({}),
  register(ctx, { host, runs, sessions, agents, assets, boards }) {
    const { clock, ids, log, signal, state } = ctx
    const store = declareChannels(state)
    const [parts, observers] = [ctx.view(ChannelParts), ctx.observers(ChannelParts)]
    const named = { store, sessions, agents }
    const names = createNames(named)
    const reads = createReads({ store, names, sessions })
    const channels: Channels = {
      ...reads,
      ...createMembers({ store, sessions, names, observers, reads }),
      post: createPost({ store, names, ids, assets, observers, reads }),
      react: createReact(store),
    }
    const changes = createChanges({ store, ids, assets, parts, observers, channels })
    const removal = createRemoval({ store, observers, state, clock, log })
    const following = createFollowing({ ...named, names, state, log })
    const views = createViews({ store, channels, parts })
    const { skip, health } = createUnreadable(log, 'channels')
    const search = createSearch({ clock, ids: (page) => messageIds(store, page), message: channels.message })
    const routed = { store, state, channels, names, changes, views, skip, removed: removal.poke }
    ctx.provide(Channels, channels)
    ctx.routes(
      ...channelRoutes(routed),
      ...memberRoutes(routed),
      ...messageRoutes({ ...routed, search, runs, assets, boards }),
    )
    ctx.health(health)
    ctx.contribute(AssetReferences, channelAssets(store.assets))
    ctx.contribute(SessionMemberships, {
      kind: 'channel',
      of: (session_id) => reads.ofSession(session_id).slice(0, mostOfSession),
    })
    ctx.contribute(Capabilities, { name: 'channels', value: true })
    ctx.onStart(() => {
      const undo = ctx.events.on(SessionSnapshotTaken, ({ session_id }) => following.renamed(session_id))
      const repaired = following.repair(signal)
      const end = host.whenActing(removal.begin)
      return async () => {
        undo()
        await Promise.all([end(), repaired])
      }
    })
  },
})
