/** The list of an operator, with the servers of the profiles that are turned on. */
import { parse, type List, type PluginContext } from '../../../../core/plugin.js'
import { createCredentials } from '../config/credentials.js'
import { ServerEntry, serverList } from '../config/entry.js'
import type { Config } from './settings.js'
import { catalog, profiles, type ProfileName } from './catalog.js'

const entryOf = (name: string): ServerEntry | undefined => {
  const parsed = parse(ServerEntry, catalog.find((server) => server.name === name)?.entry ?? {})
  return parsed.ok ? parsed.value : undefined
}

/** Servers of profiles by name. */
const serversOf = (on: readonly ProfileName[]): (readonly [string, ServerEntry])[] =>
  profiles
    .filter(({ name }) => on.includes(name))
    .flatMap(({ servers }) =>
      servers.flatMap((name) => {
        const entry = entryOf(name)
        return entry === undefined ? [] : [[name, entry] as const]
      }),
    )

/** A table of the file stands in the place of a server of a profile, also one that is wrong at the start. */
const withProfiles = (list: List<ServerEntry>, on: readonly ProfileName[]): List<ServerEntry> => {
  if (on.length === 0) return list
  const added = serversOf(on).filter(([name]) => !list.wrong().has(name))
  let [from, all]: [unknown, ReadonlyMap<string, ServerEntry>] = [undefined, new Map()]
  return {
    ...list,
    all() {
      const own = list.all()
      if (own !== from) [from, all] = [own, new Map([...added, ...own])]
      return all
    },
  }
}

/** The list, and where what is on it comes from. */
export const openServerList = (
  { config, list: open }: Pick<PluginContext<Config>, 'config' | 'list'>,
  guard: (value: string) => void,
) => {
  const { mcp_config, mcp_profile: on } = config
  const own = open(serverList(mcp_config))
  const credentials = createCredentials(config.mcp_credentials, guard)
  const list = withProfiles(own, on)
  return {
    list,
    on,
    looks: config.mcp_discovery === 'auto',
    credentials,
    file: own.source,
    profileOf: (name: string): string | undefined =>
      own.all().has(name)
        ? undefined
        : profiles.find((profile) => on.includes(profile.name) && profile.servers.includes(name))?.name,
  }
}
