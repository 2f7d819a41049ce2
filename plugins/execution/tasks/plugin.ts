import { definePlugin } from '../../../core/plugin.js'
import { Tools } from '../tools/contract.js'
import { declareTodos } from './store.js'
import { todoWriteTool } from './tools.js'

export default definePlugin({
  id: 'tasks',
  version: '1.0.0',
  api: 1,
  summary: 'What a session has to do.',
  register(ctx) {
    ctx.contribute(Tools, todoWriteTool(declareTodos(ctx.state)))
  },
})
