/** Which tools a model is told of: those of a small window would leave no room for anything else (prompt-12). */
import { count, wholeSchema, type HealthCheck, type Warning } from '../../../../core/plugin.js'
import type { ContextWindow, ModelRoute, Models, ModelTool } from '../../models/contract.js'
import type { Tool, ToolRegistry } from '../../tools/contract.js'
import { reckonedTokens, windowFor } from './budget.js'

/** Of a window. */
const mostShare = 1 / 3

const described = new WeakMap<Tool, ModelTool>()
const describe = (tool: Tool): ModelTool => {
  const known = described.get(tool)
  if (known !== undefined) return known
  const description = { name: tool.name, description: tool.description, parameters: wholeSchema(tool.input) }
  described.set(tool, description)
  return description
}

/** By what a token is before calls have told more: which tools a conversation has must not change in its midst. */
export const shownTools = (tools: readonly Tool[], window: ContextWindow | undefined): readonly ModelTool[] => {
  const all = tools.map(describe)
  if (window === undefined || window.guessed === true || reckonedTokens(all) <= window.tokens * mostShare) return all
  return tools.filter(({ seldom }) => seldom !== true).map(describe)
}

const warningOf = ({ file }: Models, route: ModelRoute, tools: readonly Tool[]): Warning[] => {
  const { route_id, model } = route
  const window = windowFor(route, model)
  const left = tools.length - shownTools(tools, window).length
  if (window === undefined || left === 0) return []
  return [
    {
      severity: 'info',
      code: 'context_window_small',
      message:
        `The model ${model} of the route ${route_id} is not told of ${count(left, 'tool')}: ` +
        `its window has ${window.tokens} tokens.`,
      related_id: route_id,
      action: `Where its server takes more, say so in context_window of the route in ${file}.`,
    },
  ]
}

/** Says which routes have models that are not told of all tools. */
export const smallWindows = (models: () => Models | undefined, tools: Pick<ToolRegistry, 'list'>): HealthCheck => ({
  id: 'small-windows',
  check() {
    const routes = models()
    return routes?.list().flatMap((route) => warningOf(routes, route, tools.list())) ?? []
  },
})
