/** The limits of tool calls from the command line. */
import { groupCommands } from '../../operator/runtime/contract.js'
import { ToolLimitsView } from './config.js'

export const commands = groupCommands({
  path: 'tool-limits',
  member: 'limits',
  what: 'the limits of tool calls',
  struct: ToolLimitsView,
})
