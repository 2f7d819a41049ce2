/** The tools of all servers, as they are contributed: a set for each server, which changes as a whole. */
import { createPause, toldLine, type Log } from '../../../../core/plugin.js'
import type { Tool } from '../../../execution/tools/contract.js'
import { isWanted, type Listing, type OddTool } from '../servers/listed.js'
import type { McpServer } from '../servers/mcp-server.js'
import { toFitTool, toForeignTool, type FitTool, type ForeignParts, type ForeignTool } from './foreign-tool.js'

/** What one server has contributed. */
export interface PublishedSet {
  readonly tools: readonly ForeignTool[]
  readonly too_many: number
  /** How many are left out for what they are. */
  readonly odd: number
  readonly is_whole: boolean
  readonly unfit: Listing['unfit']
}

export interface Published {
  /** Takes the place of what the server had; resolves when models see it. */
  publish(server: McpServer, listing: Listing): Promise<void>
  /** Shows what the server had as its entry has it now. */
  republish(server: McpServer): void
  withdraw(name: string): void
  of(name: string): PublishedSet
  all(): readonly ForeignTool[]
  find(name: string): ForeignTool | undefined
}

export interface PublishedParts extends ForeignParts {
  readonly contribute: (tools: readonly Tool[]) => () => void
  readonly log: Log
  readonly isThere: (server: McpServer) => boolean
}

/** What of a listing may be shown, with what its entry leaves out. */
interface Fit extends Omit<PublishedSet, 'tools'> {
  readonly fit: readonly FitTool[]
}

interface Held extends PublishedSet, Fit {
  readonly undo: () => void
}

const none: PublishedSet = { tools: [], too_many: 0, odd: 0, is_whole: true, unfit: [] }
/** Odd tools that are named in the log. */
const mostNamed = 20
/** Signs of a name and of what is wrong, there. */
const mostShown = 300
/** Their schemas may be large, and others are served in between. */
const toolsPerTurn = 5

export const createPublished = (parts: PublishedParts): Published => {
  const { contribute, log, isThere } = parts
  const sets = new Map<string, Held>()
  const withdraw = (name: string): void => {
    sets.get(name)?.undo()
    sets.delete(name)
  }
  const show = (server: McpServer, { fit, ...rest }: Fit): void => {
    withdraw(server.name)
    const tools = fit
      .filter(({ origin }) => isWanted(server.entry, origin.tool))
      .map((tool) => toForeignTool(server, tool, parts))
    sets.set(server.name, { ...rest, tools, fit, undo: contribute(tools) })
  }
  const made = async (server: McpServer, listing: Listing): Promise<Fit> => {
    const tools = new Map<string, FitTool>()
    const odd: OddTool[] = [...listing.odd]
    const pause = createPause(toolsPerTurn)
    for (const listed of listing.tools) {
      await pause()
      const tool = await toFitTool(server, listed, parts)
      if (typeof tool === 'string') odd.push({ tool: listed.name, reason: tool })
      else if (tools.has(tool.name)) odd.push({ tool: listed.name, reason: `another one is ${tool.name} too` })
      else tools.set(tool.name, tool)
    }
    for (const { tool, reason } of odd.slice(0, mostNamed))
      log.warn('a tool of an MCP server is left out', {
        server: server.name,
        tool: toldLine(tool, mostShown, parts.redact),
        reason: toldLine(reason, mostShown, parts.redact),
      })
    const { too_many, is_whole, unfit } = listing
    return { fit: [...tools.values()], too_many, odd: odd.length, is_whole, unfit }
  }
  return {
    async publish(server, listing) {
      const set = await made(server, listing)
      if (isThere(server)) show(server, set)
    },
    republish(server) {
      const held = sets.get(server.name)
      if (held !== undefined) show(server, held)
    },
    withdraw,
    of: (name) => sets.get(name) ?? none,
    all: () => [...sets.values()].flatMap(({ tools }) => tools),
    find: (name) => {
      for (const { tools } of sets.values()) {
        const found = tools.find((tool) => tool.name === name)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}
