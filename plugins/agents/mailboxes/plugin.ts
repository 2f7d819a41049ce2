import { definePlugin, Host } from '../../../core/plugin.js'
import { Runs } from '../../execution/runs/contract.js'
import { SessionHolds, Sessions } from '../../execution/sessions/contract.js'
import { Tools } from '../../execution/tools/contract.js'
import { Reasons } from '../../operator/explanations/contract.js'
import { Capabilities } from '../../operator/status/contract.js'
import { AssetReferences, Assets } from '../../media/assets/contract.js'
import { AgentMail, Agents } from '../sidechains/contract.js'
import { Mailboxes } from './contract.js'
import { mailReasons } from './explained.js'
import { mailHolder } from './files.js'
import { createPost } from './post.js'
import { mailRoutes } from './routes.js'
import { declareMessages } from './store.js'
import { messageTool } from './tools.js'
import { createWorker } from './worker.js'

export default definePlugin({
  id: 'mailboxes',
  version: '1.0.0',
  api: 1,
  summary: 'Messages from agent to agent, read in runs of their own.',
  needs: { agents: Agents, host: Host, runs: Runs, sessions: Sessions },
  wants: { assets: Assets },
  provides: [AgentMail, Mailboxes],
  register(ctx, { agents, host, runs, sessions, assets }) {
    const { clock, ids, log, state } = ctx
    const store = declareMessages(state, (tx, agent_id) => {
      const session = sessions.ofAgent(agent_id)
      if (session !== undefined) sessions.announce(tx, session.session_id)
    })
    const worker = createWorker({ store, agents, runs, state, clock, log })
    const post = createPost({ store, agents, ids, assets, posted: worker.consider })
    ctx.provide(Mailboxes, {
      post,
      discard(tx, agent_id, why) {
        for (const message of store.pending(agent_id, store.waiting(agent_id))) store.bury(tx, message, why)
      },
      hold: worker.hold,
    })
    ctx.provide(AgentMail, { waiting: store.waiting, recipients: store.recipients })
    ctx.routes(...mailRoutes({ store, agents, state, post, runs }))
    ctx.contribute(Tools, messageTool({ agents, sessions, assets, post }))
    ctx.contribute(AssetReferences, mailHolder(store.files))
    ctx.contribute(Reasons, mailReasons(store))
    ctx.contribute(Capabilities, { name: 'mailboxes', value: true })
    ctx.contribute(SessionHolds, {
      id: 'mailboxes',
      holds(session_id) {
        const session = sessions.find(session_id)
        return session !== undefined && store.waiting(session.agent_id) > 0 ? 'messages in its mailbox' : undefined
      },
    })
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
