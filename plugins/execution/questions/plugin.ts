import { definePlugin, object } from '../../../core/plugin.js'
import { Runs } from '../runs/contract.js'
import { Sessions } from '../sessions/contract.js'
import { Tools } from '../tools/contract.js'
import { questionCommands } from './commands.js'
import { watchExpiry } from './expiry.js'
import { questionRoutes } from './routes.js'
import { askUserQuestion } from './tools.js'

export default definePlugin({
  id: 'questions',
  version: '1.0.0',
  api: 1,
  summary: 'Structured questions of a run to a person, and their answers.',
  needs: { runs: Runs, sessions: Sessions },
  config: object({}),
  commands: questionCommands,
  register(ctx, { runs, sessions }) {
    const parts = { runs, sessions, clock: ctx.clock }
    ctx.routes(...questionRoutes(parts))
    ctx.contribute(Tools, askUserQuestion(ctx.clock))
    ctx.onStart(() => watchExpiry(parts, ctx.log))
  },
})
