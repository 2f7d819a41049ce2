import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { Interception } from '../interception/contract.js'
import { Runs, type RunKind } from '../runs/contract.js'
import { Sessions } from '../sessions/contract.js'
import { Tools } from '../tools/contract.js'
import { Questions, QuestionSettlers, type QuestionSettler } from './contract.js'
import { expireQuestions, resolveQuestion } from './resolve.js'
import { questionRoutes } from './routes.js'
import { settleOwnRun } from './settle.js'
import { telling } from './told.js'
import { askOperator, askUserQuestion } from './tools.js'

export default definePlugin({
  id: 'questions',
  version: '1.0.0',
  api: 1,
  summary: 'Structured questions of a run to a person, and their answers.',
  needs: { runs: Runs, sessions: Sessions },
  wants: { interception: Interception },
  provides: [Questions],
  config: object({}),
  register(ctx, { runs, sessions, interception }) {
    const settlers = ctx.view(QuestionSettlers)
    const own = settleOwnRun(runs)
    const settler = (kind: RunKind): QuestionSettler =>
      telling(settlers().find((each) => each.kind === kind) ?? own, interception)
    const parts = { runs, sessions, settler, clock: ctx.clock }
    const unreadable = createUnreadable(ctx.log, 'questions')
    ctx.routes(...questionRoutes({ ...parts, skip: unreadable.skip }))
    ctx.health(unreadable.health)
    ctx.provide(Questions, {
      resolve: async (run_id, answer) => resolveQuestion(parts, runs.get(run_id), { ...answer, receipt: undefined }),
    })
    ctx.contribute(Tools, askUserQuestion(ctx.clock), askOperator(ctx.clock, sessions))
    ctx.onStart(() => runs.onDue('waiting_for_user_question', (run) => expireQuestions(parts, run)))
  },
})
