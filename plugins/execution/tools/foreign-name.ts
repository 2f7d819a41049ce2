/** Names of foreign tools as models take them. */
import { hash } from 'node:crypto'
import type { ToolOrigin } from './visibility.js'

/** Longest name that every provider takes. */
const longest = 64
const digits = 8

/** What needs no change, and cannot be mistaken where it meets the line that divides it from what follows. */
const plainServer = /^(?!.*__)[a-zA-Z0-9-](?:[a-zA-Z0-9_-]*[a-zA-Z0-9-])?$/u
const plainTool = /^[a-zA-Z0-9_-]+$/u

const written = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]+/gu, '_')

/**
 * The name under which models see a foreign tool: `mcp__<server>__<tool>`. Where a sign or the length does not fit, it
 * ends with a digest of the whole, whatever other tools there are: a name never comes to mean another tool.
 */
export const foreignToolName = ({ server, tool }: ToolOrigin): string => {
  const name = `mcp__${written(server)}__${written(tool)}`
  if (plainServer.test(server) && plainTool.test(tool) && name.length <= longest) return name
  const sign = hash('sha256', JSON.stringify([server, tool])).slice(0, digits)
  return `${name.slice(0, longest - digits - 1)}_${sign}`
}
