/** Which model answers in a session, and choosing another. */
import {
  array,
  isJsonObject,
  nearest,
  open,
  optional,
  parse,
  string,
  visibleLine,
  type Client,
  type Json,
  type JsonObject,
} from '../../../../core/plugin.js'
import { sessionPath } from './journal.js'

const Route = open({ route_id: string(), model: string() })
const Runtime = open({
  route_id: string(),
  model: string(),
  permission_mode: optional(string()),
  routes: array(Route),
  route_diagnostics: array(open({ route_id: optional(string()), severity: string(), message: string() })),
})
const Session = open({
  route_policy: optional(
    open({ provider: optional(string()), generation: optional(open({ model: optional(string()) })) }),
  ),
})

export interface ChosenModel {
  readonly route_id: string
  readonly model: string
  readonly routes: readonly { readonly route_id: string; readonly model: string }[]
  readonly permission_mode: string | undefined
  /** Why its route cannot be used, or may not be. */
  readonly trouble: string | undefined
  /** The route policy of the session, as it is. */
  readonly policy: JsonObject
}

export const readModel = async (client: Client, session_id: string): Promise<ChosenModel | undefined> => {
  const [runtime, session] = await Promise.all([client.get('/v1/runtime'), client.get(sessionPath(session_id))])
  const [now, own] = [parse(Runtime, runtime), parse(Session, session)]
  if (!now.ok || !own.ok) return undefined
  const { routes, permission_mode, route_diagnostics } = now.value
  const { provider, generation } = own.value.route_policy ?? {}
  const route_id = provider ?? now.value.route_id
  const ofRoute = routes.find((route) => route.route_id === route_id)?.model ?? ''
  const trouble = route_diagnostics.find((one) => one.route_id === route_id)?.message
  const policy = isJsonObject(session) && isJsonObject(session['route_policy']) ? session['route_policy'] : {}
  return { route_id, model: generation?.model ?? ofRoute, routes, permission_mode, trouble, policy }
}

export const modelText = ({ route_id, model }: Pick<ChosenModel, 'route_id' | 'model'>): string =>
  visibleLine(model === '' || model === route_id ? route_id : `${route_id}/${model}`)

/** `ROUTE`, `ROUTE/MODEL`, or a model of the route that is in use. */
const wishOf = ({ routes, route_id }: ChosenModel, text: string): { route_id: string; model?: string } => {
  const named = routes.find((route) => text === route.route_id || text.startsWith(`${route.route_id}/`))
  if (named === undefined) return { route_id, model: text }
  const model = text.slice(named.route_id.length + 1)
  return { route_id: named.route_id, ...(model !== '' && { model }) }
}

/** A word that is no route and may have been meant as one: models may be called like that, and routes are mistyped. */
export const routeHint = ({ routes }: ChosenModel, text: string): string | undefined => {
  const [before = '', after] = text.split('/')
  if (routes.some(({ route_id, model }) => route_id === before || model === text)) return undefined
  const ids = routes.map(({ route_id }) => route_id)
  const meant = ids.find((id) => id.toLowerCase() === before.toLowerCase()) ?? nearest(before.toLowerCase(), ids)
  if (after === undefined && meant === undefined) return undefined
  const ask = meant === undefined ? '' : `, but one ${visibleLine(meant)}`
  const whole = after === undefined ? 'It' : 'All of it'
  return `No route is called ${visibleLine(before)}${ask}. ${whole} is taken for a model.`
}

/** Makes the session use it from now on; the other settings of its route policy stay. */
export const chooseModel = async (client: Client, session_id: string, text: string): Promise<Json> => {
  const now = await readModel(client, session_id)
  if (now === undefined) return null
  const wish = wishOf(now, text)
  const { generation: before, ...rest } = now.policy
  const { model: _, ...kept } = isJsonObject(before) ? before : {}
  const generation = { ...kept, ...(wish.model !== undefined && { model: wish.model }) }
  return client.send('PUT', `${sessionPath(session_id)}/route-policy`, {
    route_policy: {
      ...rest,
      provider: wish.route_id,
      ...(Object.keys(generation).length > 0 && { generation }),
    },
  })
}
