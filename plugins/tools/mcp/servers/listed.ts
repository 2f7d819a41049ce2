/** The tools that a server lists, bounded and filtered: what is odd is left out, and the others count. */
import { isJsonObject, unsafeCast, visibleLine, type Json, type JsonObject } from '../../../../core/plugin.js'
import type { Effect } from '../../../execution/tools/contract.js'
import type { ServerEntry } from '../config/entry.js'
import type { AskOptions, Connection } from '../connection/connection.js'

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string
  /** As the server gives it. */
  readonly description: string
  /** What a repetition would do, as far as the server says. */
  readonly said_effect: Effect
  readonly input_schema: Json
  /** It can only be called as a task, which nothing here does. */
  readonly only_as_task: boolean
}

export interface Listing {
  readonly tools: readonly ListedTool[]
  /** Tools behind the most of one server. */
  readonly too_many: number
  /** Those that cannot be called by their name. */
  readonly odd: readonly OddTool[]
  /** False if the list has no end. */
  readonly is_whole: boolean
  /** What the entry names and the server has not, as far as its list was read to the end. */
  readonly unfit: readonly string[]
}

/** A tool that is left out, and what is wrong with it, in words. */
export interface OddTool {
  readonly tool: string
  readonly reason: string
}

/** Tools of one server, pages of its list, signs of a name. */
const [mostTools, mostPages, mostName] = [500, 100, 200]

const fits = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
const matches = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => fits(pattern, name))

/** True if the operator lets a tool count. */
export const isWanted = ({ enabled_tools, disabled_tools }: ServerEntry, name: string): boolean =>
  (enabled_tools.length === 0 || matches(enabled_tools, name)) && !matches(disabled_tools, name)

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Nothing said is the worst. */
const saidEffect = (annotations: Json | undefined): Effect => {
  const said = isJsonObject(annotations) ? annotations : {}
  return said['readOnlyHint'] === true ? 'read' : said['idempotentHint'] === true ? 'idempotent' : 'once'
}

/** What the operator says of a tool goes before what its server says. */
export const effectOf = ({ effects }: ServerEntry, name: string, said: Effect): Effect =>
  (Object.hasOwn(effects, name) ? effects[name] : undefined) ?? said

const toolOf = (item: JsonObject): ListedTool => {
  const name = text(item['name'])
  const said = text(item['description']).trim() || text(item['title']).trim() || `The tool ${visibleLine(name)}.`
  return {
    name,
    description: said,
    said_effect: saidEffect(item['annotations']),
    input_schema: item['inputSchema'] ?? { type: 'object' },
    only_as_task: isJsonObject(item['execution']) && item['execution']['taskSupport'] === 'required',
  }
}

const itemsOf = (page: JsonObject): readonly Json[] => {
  const items = page['tools']
  return Array.isArray(items) ? unsafeCast<readonly Json[]>(items) : []
}

/** What an entry names of tools, until a tool is seen that it fits. */
const createUnfit = ({ enabled_tools, disabled_tools, effects }: ServerEntry) => {
  const [patterns, names] = [new Set([...enabled_tools, ...disabled_tools]), new Set(Object.keys(effects))]
  return {
    see(name: string): void {
      for (const pattern of patterns) if (fits(pattern, name)) patterns.delete(pattern)
      names.delete(name)
    },
    left: (): readonly string[] => [...new Set([...patterns, ...names])],
  }
}

const noName = 'it has no name'
const wrongName = (name: string): string | undefined => {
  if (name.trim() === '') return noName
  return name.length > mostName ? `its name has more than ${mostName} characters` : undefined
}

/** Rejects as `ask` does. */
export const listTools = async (connection: Connection, entry: ServerEntry, options: AskOptions): Promise<Listing> => {
  const tools = new Map<string, ListedTool>()
  const odd: OddTool[] = []
  const cursors = new Set<string>()
  const unfit = createUnfit(entry)
  let too_many = 0
  const take = (item: Json): void => {
    const name = isJsonObject(item) ? text(item['name']) : ''
    const wrong = wrongName(name)
    if (wrong === undefined) unfit.see(name)
    if (wrong === undefined && !isWanted(entry, name)) return
    if (!isJsonObject(item) || wrong !== undefined) odd.push({ tool: name, reason: wrong ?? noName })
    else if (tools.has(name)) odd.push({ tool: name, reason: 'it is listed twice: the first one counts' })
    else if (tools.size === mostTools) too_many += 1
    else tools.set(name, toolOf(item))
  }
  const listing = (is_whole: boolean, left: readonly string[]): Listing => ({
    tools: [...tools.values()],
    too_many,
    odd,
    is_whole,
    unfit: left,
  })
  if (!connection.offers.tools) return listing(true, unfit.left())
  let cursor: string | undefined
  while (cursors.size < mostPages) {
    const page: JsonObject = await connection.ask('tools/list', cursor === undefined ? {} : { cursor }, options)
    itemsOf(page).forEach(take)
    cursor = text(page['nextCursor'])
    if (cursor === '') return listing(true, unfit.left())
    if (cursors.has(cursor)) break
    if (tools.size === mostTools) return listing(true, [])
    cursors.add(cursor)
  }
  return listing(false, [])
}
