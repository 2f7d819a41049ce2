/** What `init` does to a daemon: keys, the file of routes, and the question whether a model answers. */
import {
  array,
  boolean,
  commandErrors,
  open,
  optional,
  parse,
  string,
  visibleLine,
  type CommandInput,
  type NearDaemon,
} from '../../../../core/plugin.js'
import type { Candidate } from './found.js'
import type { CheckedRoute } from './init-words.js'
import { hasRoute, withKeyOf, withRoutes, type NewRoute } from './routes-text.js'

export interface Chosen extends Candidate {
  readonly model: string | undefined
}

export const file = 'routes'
export const secretOf = (route_id: string): string => `models.${route_id}`

export const storeKey = ({ client }: NearDaemon, { route_id, provider, key }: Chosen) =>
  client.send('POST', '/v1/runtime/secrets', {
    slot_id: secretOf(route_id),
    provider: provider.secrets_of[0] ?? 'generic',
    mode: 'api_key',
    state: { value: key?.value ?? '' },
  })

const Check = open({
  route_id: string(),
  model: string(),
  answered: boolean(),
  code: optional(string()),
  message: optional(string()),
})
/** Asks for one word. */
export const check = async ({ client }: NearDaemon, route_id: string): Promise<CheckedRoute> => {
  const parsed = parse(Check, await client.send('POST', '/v1/runtime/model/check', { route_id }))
  return parsed.ok ? parsed.value : { route_id, model: '', answered: false }
}

const Runtime = open({
  default_route: string(),
  routes_file: optional(string()),
  routes: array(open({ route_id: string(), auth_ref: optional(string()) })),
})
export const runtimeOf = async ({ client }: NearDaemon) => {
  const parsed = parse(Runtime, await client.get('/v1/runtime'))
  return parsed.ok ? parsed.value : { default_route: '', routes: [] }
}

/** What it would write, a daemon that reads another file would not see. Throws `routes_file_elsewhere`. */
export const checkPlace = async (near: NearDaemon): Promise<void> => {
  const usual = `config/${file}.toml`
  const { routes_file = usual } = await runtimeOf(near)
  if (routes_file !== usual) throw commandErrors.routes_file_elsewhere({ details: { file: routes_file } })
}

type Routes = Awaited<ReturnType<typeof runtimeOf>>['routes']

/** Looks for what is new in the daemon, which reads the file when it is written. */
const [looks, betweenMs] = [100, 100]
const isRead = async (input: CommandInput, near: NearDaemon, has: (routes: Routes) => boolean): Promise<boolean> => {
  for (let look = 0; look < looks; look += 1) {
    if (has((await runtimeOf(near)).routes)) return true
    await input.pause(betweenMs, input.signal)
  }
  return false
}

/** Writes the file; puts back what was there if the daemon does not take it. */
const write = async (
  input: CommandInput,
  near: NearDaemon,
  { text, has }: { text: string; has(routes: Routes): boolean },
): Promise<void> => {
  const before = near.config(file)
  await near.writeConfig(file, text)
  if (await isRead(input, near, has)) return
  await near.writeConfig(file, before)
  throw commandErrors.routes_file_refused()
}

const entryOf = ({ route_id, provider, base_url, model, key }: Chosen): NewRoute => ({
  route_id,
  driver: provider.provider,
  base_url,
  model,
  auth_ref: key === undefined ? undefined : secretOf(route_id),
})

export const addRoutes = async (input: CommandInput, near: NearDaemon, added: readonly Chosen[]): Promise<void> => {
  const before = near.config(file) ?? ''
  const { default_route, routes } = await runtimeOf(near)
  const kept = routes.find(({ route_id }) => route_id === default_route && hasRoute(before, route_id))
  await write(input, near, {
    text: withRoutes(before, added.map(entryOf), kept?.route_id ?? added[0]?.route_id ?? ''),
    has: (now) => added.every((one) => now.some(({ route_id }) => route_id === one.route_id)),
  })
}

/** The secret that the route names. */
export const authRefOf = async (
  near: NearDaemon,
  { route_id }: Pick<Chosen, 'route_id'>,
): Promise<string | undefined> => (await runtimeOf(near)).routes.find((one) => one.route_id === route_id)?.auth_ref

const nameKey = (input: CommandInput, near: NearDaemon, { route_id }: Chosen): Promise<void> =>
  write(input, near, {
    text: withKeyOf(near.config(file) ?? '', route_id, secretOf(route_id)),
    has: (now) => now.some((one) => one.route_id === route_id && one.auth_ref === secretOf(route_id)),
  })

const keyless: ReadonlySet<string | undefined> = new Set(['auth', 'route_not_ready'])

interface Checking {
  readonly one: Chosen
  readonly isNew: boolean
  /** Whether the key that was found is stored in place of the route's own. */
  mayStore(one: Chosen): Promise<boolean>
  say(line: string): void
}

/** Checks a route; a key of ours that is refused, gone or was never given gives way to the one that was found. */
export const checkOne = async (input: CommandInput, near: NearDaemon, { one, isNew, mayStore, say }: Checking) => {
  const first = await check(near, one.route_id)
  if (isNew || one.key === undefined || first.answered || !keyless.has(first.code)) return first
  const auth_ref = await authRefOf(near, one)
  if (auth_ref !== undefined && auth_ref !== secretOf(one.route_id)) return first
  if (!(await mayStore(one))) return first
  await storeKey(near, one)
  if (auth_ref === undefined) await nameKey(input, near, one)
  const why = auth_ref === undefined ? 'as its key' : 'in place of the one that was refused'
  say(`${visibleLine(one.route_id)}: stored ${visibleLine(one.key.from)} ${why}.`)
  return check(near, one.route_id)
}
