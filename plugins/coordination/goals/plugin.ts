import { Host, defaulted, definePlugin, doc, integer, object } from '../../../core/plugin.js'
import { SystemSections } from '../../execution/models/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { SessionGoals, Sessions, SessionStateChanged } from '../../execution/sessions/contract.js'
import { Tools } from '../../execution/tools/contract.js'
import { Reasons } from '../../operator/explanations/contract.js'
import { UsageLimits, UsageBooks } from '../../operator/usage/contract.js'
import { createAsked } from './asked.js'
import { goalReasons } from './explained.js'
import { goalsHealth } from './health.js'
import { goalRoutes } from './routes.js'
import { createGoals } from './service.js'
import { declareGoals } from './store.js'
import { goalSection, goalTools } from './tools.js'
import { createWorker } from './worker.js'

export default definePlugin({
  id: 'goals',
  version: '1.0.0',
  api: 1,
  summary: 'What sessions work towards by themselves, run after run, within bounds.',
  needs: { host: Host, runs: Runs, sessions: Sessions, books: UsageBooks },
  provides: [SessionGoals],
  config: object({
    max_turns: doc(
      defaulted(integer({ min: 1, max: 10_000 }), 50),
      'Runs that a goal makes at most before somebody has it go on.',
    ),
  }),
  register(ctx, { host, runs, sessions, books }) {
    const { clock, config, ids, log, state } = ctx
    const store = declareGoals({ state, clock, books })
    const asked = createAsked(store, runs)
    const worker = createWorker({ store, state, runs, sessions, log, config })
    const goals = createGoals({ store, state, ids, runs, sessions, consider: worker.consider })
    ctx.routes(...goalRoutes({ store, goals, sessions }))
    ctx.contribute(Tools, ...goalTools({ store, asked, ids }))
    ctx.contribute(SystemSections, goalSection({ store, asked }))
    ctx.contribute(UsageLimits, { id: 'goals', refusal: worker.refusal })
    ctx.provide(SessionGoals, {
      find(session_id) {
        const goal = store.find(session_id)
        return goal && store.shown(goal)
      },
    })
    ctx.contribute(Reasons, goalReasons(store))
    ctx.health(goalsHealth(store))
    ctx.onStart(() => {
      const undo = [
        runs.onEnded(({ run_id, session_id }) => {
          asked.forget(run_id)
          worker.consider(session_id)
        }),
        ctx.events.on(SessionStateChanged, ({ session_id }) => worker.consider(session_id)),
      ]
      const end = host.whenActing(worker.begin)
      return async () => {
        for (const one of undo) one()
        await end()
      }
    })
  },
})
