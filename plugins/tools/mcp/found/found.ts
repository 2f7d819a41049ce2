/**
 * Servers that a file of the workspace names, as programs of others keep them. Whoever may write in the workspace may
 * have written it, models too: it is shown, and nothing of it is started.
 */
import {
  isJsonObject,
  parse,
  readOutside,
  realFolder,
  type Json,
  type JsonObject,
  type List,
} from '../../../../core/plugin.js'
import { serverList, ServerEntry } from '../config/entry.js'
import { cutValue, takenFrom, type Taken } from './taken.js'

export const foundFile = '.mcp.json'

/** A server as the file has it, as a table of the list. */
export interface FoundServer extends Taken {
  readonly name: string
  /** Why the list would not take it as it is. */
  readonly problem?: string
}

export interface Found {
  readonly servers: readonly FoundServer[]
  /** Why the file cannot be read. */
  readonly problem?: string
}

export interface FoundParts {
  /** False to look for none. */
  readonly looks: boolean
  readonly workspace: () => string
  readonly list: Pick<List<ServerEntry>, 'all' | 'source'>
}

const [mostBytes, mostServers] = [256 * 1024, 100]
const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u
const namesRule =
  'must be of letters, digits, dots, underscores and hyphens alone, 64 at most, and begin with a letter or a digit'

const members = ['command', 'args', 'env', 'cwd', 'url', 'headers'] as const

const entryOf = (given: JsonObject): JsonObject =>
  Object.fromEntries(
    members.flatMap((member) => {
      const value = given[member]
      const isEmpty = value === undefined || (typeof value === 'object' && Object.keys(Object(value)).length === 0)
      return isEmpty ? [] : [[member, value]]
    }),
  )

const cutProblem =
  `its arguments or its address have a secret, here ${cutValue}: ` +
  'give it as a variable or a header if the server takes one'

const formOf = (own: JsonObject): string | undefined => {
  const read = parse(ServerEntry, own)
  return read.ok ? undefined : read.issues.map(({ path, rule }) => `${path} ${rule}`).join('; ')
}

const problemOf = (name: string, { entry, is_cut }: Taken): string | undefined => {
  if (!names.test(name)) return `its name ${namesRule}`
  if (is_cut) return cutProblem
  const read = parse(ServerEntry, entry)
  const fault = read.ok ? serverList().fault?.(name, read.value) : undefined
  if (fault !== undefined) return fault
  return /\$\{/u.test(JSON.stringify(entry))
    ? 'variables such as ${NAME} are not filled in: name secrets with env_secret_refs or http_header_secret_refs'
    : undefined
}

const foundServer = (name: string, given: Json | undefined): FoundServer => {
  const own = isJsonObject(given) ? entryOf(given) : {}
  const taken = takenFrom(name, own)
  // What has another form is not in the table at all.
  const problem = formOf(own) ?? problemOf(name, taken)
  return { name, ...taken, ...(problem !== undefined && { problem }) }
}

const serversIn = (text: string): readonly FoundServer[] | undefined => {
  try {
    const read: Json = JSON.parse(text)
    const servers = isJsonObject(read) ? read['mcpServers'] : undefined
    if (!isJsonObject(servers)) return undefined
    return Object.entries(servers)
      .slice(0, mostServers)
      .map(([name, given]) => foundServer(name, given))
  } catch {
    return undefined
  }
}

/** Those that are not on the list. The file is read at each call. */
export const lookForServers = async ({ looks, workspace, list }: FoundParts): Promise<Found> => {
  const root = looks ? realFolder(workspace())?.path : undefined
  const read = root === undefined ? undefined : await readOutside(root, foundFile, mostBytes)
  if (read === undefined) return { servers: [] }
  if (!read.ok) return { servers: [], problem: `${foundFile} of the workspace ${read.rule}` }
  const servers = serversIn(read.text)
  if (servers === undefined)
    return { servers: [], problem: `${foundFile} of the workspace must be JSON with mcpServers` }
  return { servers: servers.filter(({ name }) => !list.all().has(name)) }
}
