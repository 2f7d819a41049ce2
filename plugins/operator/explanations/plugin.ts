import { definePlugin } from '../../../core/plugin.js'
import { Reasons, Subjects } from './contract.js'
import { explanationRoutes } from './routes.js'

export default definePlugin({
  id: 'explanations',
  version: '1.0.0',
  api: 1,
  summary: 'Why runs, agents, flows, channels and tasks are where they are, and what would move them.',
  register(ctx) {
    ctx.routes(...explanationRoutes({ subjects: ctx.view(Subjects), reasons: ctx.view(Reasons), log: ctx.log }))
  },
})
