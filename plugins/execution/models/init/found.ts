/** What there is to make routes of: keys in the environment, and servers on this machine. */
import {
  array,
  commandErrors,
  open,
  optional,
  parse,
  Problem,
  string,
  type CommandInput,
  type Infer,
  type NearDaemon,
} from '../../../../core/plugin.js'
import { choiceOf } from '../file/route-words.js'

const Provider = open({
  provider: string(),
  summary: string(),
  default_model: optional(string()),
  secrets_of: array(string()),
  key_variables: array(string()),
  local_servers: array(open({ route_id: string(), name: string(), base_url: string() })),
})
export type Provider = Infer<typeof Provider>

/** A key, and which it is in words. */
export interface FoundKey {
  readonly value: string
  readonly from: string
}

/** A route that could be. */
export interface Candidate {
  readonly route_id: string
  readonly provider: Provider
  /** Why it is offered. */
  readonly because: string
  readonly base_url?: string
  /** True where the line named the address. */
  readonly isAddressed?: boolean
  readonly key?: FoundKey
  /** True where nobody answers. */
  readonly isSilent?: boolean
  /** Models to choose from, the likeliest first; the one of the provider, or those of a server. */
  readonly models: readonly string[]
}

export const readProviders = async ({ client }: NearDaemon): Promise<readonly Provider[]> => {
  const parsed = parse(array(Provider), await client.get('/v1/runtime/providers'))
  return parsed.ok ? parsed.value : []
}

const ModelList = open({ data: array(open({ id: string() })) })
/** For a server on this machine to say which models it has. */
const lookMs = 1_500

const isSilence = (error: unknown): boolean => error instanceof Problem && error.code === 'daemon_unreachable'

/** Models of a server that speaks chat completions, none if it lists none; undefined if nobody answers there. */
export const modelsAt = async ({ reach }: CommandInput, base_url: string): Promise<readonly string[] | undefined> => {
  const { origin, pathname } = new URL(base_url)
  const answer = await reach(origin, lookMs)
    .get(`${pathname.replace(/\/$/u, '')}/models`)
    .catch((error: unknown) => (isSilence(error) ? undefined : null))
  if (answer === undefined) return undefined
  const parsed = parse(ModelList, answer)
  if (!parsed.ok) return []
  const names = parsed.value.data.map(({ id }) => id).filter((id) => /^\S{1,200}$/u.test(id))
  const isForText = (name: string): boolean => !/embed|rerank|whisper/iu.test(name)
  return [...names.filter(isForText), ...names.filter((name) => !isForText(name))]
}

/** The provider with this key. */
export const withKey = (provider: Provider, key: FoundKey): Candidate => ({
  route_id: provider.provider,
  provider,
  because: key.from,
  key,
  models: provider.default_model === undefined ? [] : [provider.default_model],
})

const keyOf = ({ variable }: CommandInput, { key_variables }: Provider): FoundKey | undefined => {
  for (const name of key_variables) {
    const value = variable(name)?.trim()
    if (value !== undefined && value !== '') return { value, from: `the key in ${name}` }
  }
  return undefined
}

type Server = Provider['local_servers'][number]
const atServer = (provider: Provider, server: Server, models: readonly string[] | undefined): Candidate => ({
  route_id: server.route_id,
  provider,
  because: `${server.name} at ${server.base_url}`,
  base_url: server.base_url,
  models: models ?? [],
  isSilent: models === undefined,
})

/** Everything that is there. */
export const findAll = async (input: CommandInput, providers: readonly Provider[]): Promise<Candidate[]> => {
  const keyed = providers.flatMap((provider) => {
    const key = keyOf(input, provider)
    return key === undefined ? [] : [withKey(provider, key)]
  })
  const servers = providers.flatMap((provider) => provider.local_servers.map((server) => ({ provider, server })))
  const local = await Promise.all(
    servers.map(async ({ provider, server }) => {
      const models = await modelsAt(input, server.base_url)
      return models === undefined || models.length === 0 ? [] : [atServer(provider, server, models)]
    }),
  )
  return [...keyed, ...local.flat()]
}

const wrong = (flag: string, problem: string) => commandErrors.flag_invalid({ details: { flag, problem } })

/** What `--provider` and `--server` name. */
export const findNamed = async (
  input: CommandInput,
  providers: readonly Provider[],
  key: FoundKey | undefined,
): Promise<Candidate> => {
  const { provider: name, server: base_url } = input.flags
  const known = providers.flatMap(({ provider, local_servers }) => [
    provider,
    ...local_servers.map(({ route_id }) => route_id),
  ])
  const wanted = typeof name === 'string' ? name : 'openai_compatible'
  const provider = providers.find((one) => one.provider === wanted)
  if (typeof base_url === 'string') {
    if (provider === undefined || !/^https?:\/\//u.test(base_url) || !URL.canParse(base_url))
      throw wrong('server', 'must be an http or https URL, with the provider that speaks to it')
    const { username, password, search, hash } = new URL(base_url)
    if (username + password + search + hash !== '')
      throw wrong(
        'server',
        'must name no user and have no query; a key is given with --stdin, --from-env or --from-file',
      )
    const route_id = name === undefined ? 'server' : wanted
    const server = atServer(provider, { route_id, name: '', base_url }, await modelsAt(input, base_url))
    return { ...server, because: base_url, isAddressed: true, ...(key !== undefined && { key }) }
  }
  for (const one of providers)
    for (const server of one.local_servers)
      if (server.route_id === wanted)
        return { ...atServer(one, server, await modelsAt(input, server.base_url)), ...(key !== undefined && { key }) }
  if (provider === undefined) throw wrong('provider', `must be one of ${choiceOf(wanted, known)}`)
  const given = key ?? keyOf(input, provider)
  if (given !== undefined) return withKey(provider, given)
  const where = provider.key_variables.length === 0 ? '' : `${provider.key_variables.join(' or ')}, or `
  throw wrong('provider', `${wanted} needs a key: ${where}--stdin, --from-env or --from-file`)
}
