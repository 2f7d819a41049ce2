/** Rules of the configuration that fit no tool: what is denied so is not denied (tools-37). */
import { commandLine, nearest, visibleLine, type Warning } from '../../../core/plugin.js'
import { matchRule, nativeWebSearch, type PermissionRule, type ToolRegistry } from './contract.js'

export type FittingTools = Pick<ToolRegistry, 'list' | 'arrival'>

/** Tools of servers that are not connected are not known. */
const servers = 'mcp__'
const mayComeLater = (pattern: string): boolean =>
  pattern.startsWith(servers) || (pattern.endsWith('*') && servers.startsWith(pattern.slice(0, -1)))

/** Warnings that are told at most. */
const most = 10

const warningOf = ({ tool_name_pattern, behavior }: PermissionRule, names: readonly string[]): Warning => {
  const later = mayComeLater(tool_name_pattern)
  const meant = later || tool_name_pattern.endsWith('*') ? undefined : nearest(tool_name_pattern.toLowerCase(), names)
  const shown = visibleLine(tool_name_pattern)
  return {
    severity: later ? 'info' : 'warning',
    code: 'permission_rule_fits_nothing',
    message:
      `The rule in config/tools.toml that says ${behavior} of ${shown} fits no tool that is there` +
      `${later ? ' now; those of MCP servers that are not connected may come' : ''}.`,
    related_id: shown,
    action:
      (meant === undefined ? '' : `If ${meant} is meant, correct the rule and start the daemon again. `) +
      `See the names of all tools: ${commandLine('runtime permissions matrix')}`,
  }
}

/** Looks at the rules again when tools come or go. */
export const createRuleFitting = (
  rules: readonly PermissionRule[],
  tools: FittingTools,
): (() => readonly Warning[]) => {
  let seen: { readonly list: unknown; readonly unfit: readonly PermissionRule[] } | undefined
  return () => {
    const list = tools.list()
    if (seen?.list !== list)
      seen = {
        list,
        unfit: rules.filter((rule) =>
          [...list, nativeWebSearch].every(({ name }) => matchRule([rule], name) === undefined),
        ),
      }
    if (seen.unfit.length === 0) return []
    const isArriving = tools.arrival(servers) !== undefined
    return seen.unfit
      .filter(({ tool_name_pattern }) => !isArriving || !mayComeLater(tool_name_pattern))
      .slice(0, most)
      .map((rule) =>
        warningOf(
          rule,
          list.map(({ name }) => name),
        ),
      )
  }
}
