import { definePlugin } from '../../../core/plugin.js'
import { serverList } from './config/entry.js'

export default definePlugin({
  id: 'mcp',
  version: '1.0.0',
  api: 1,
  summary: 'Tools of MCP servers, as an operator lists them.',
  register(ctx) {
    ctx.list(serverList)
  },
})
