/** The address of an `external` reply handle: which connector, and what its sidecar calls the place (external-37). */
import { notBlank, object, parse, string, type Infer } from '../../../../core/plugin.js'
import type { ReplyTargetRequest } from '../../../execution/deliveries/contract.js'
import type { AccessParts } from '../setup/access.js'

const Route = object({
  connector: string({ min: 1, max: 400 }),
  route: string({ min: 1, max: 20_000, pattern: notBlank }),
})
export type ExternalRoute = Infer<typeof Route>

/** Undefined for what is none. */
export const routeIn = (address: string): ExternalRoute | undefined => {
  try {
    const parsed = parse(Route, JSON.parse(address))
    return parsed.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}

export const addressFor = ({ connector, route }: ExternalRoute): string => JSON.stringify({ connector, route })

/** The address of a requested target. */
export const addressOf = (request: ReplyTargetRequest): string | undefined =>
  request.type === 'external' ? addressFor(request) : undefined

/** Equal routes have equal addresses. */
export const keptAddress = (address: string): string => {
  const route = routeIn(address)
  return route === undefined ? address : addressFor(route)
}

/** Why nothing can be sent to an address; undefined if it can be tried. */
export const refusedAddress = ({ connectors }: AccessParts, address: string): string | undefined => {
  const route = routeIn(address)
  if (route === undefined) return 'must be a JSON text with connector and a route that is not blank'
  return connectors.has('external', route.connector) ? undefined : 'must name an external connector that is there'
}

const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u
/** What may be told of an address: the route is the sidecar's. */
export const targetOf = (address: string): string => {
  const connector = routeIn(address)?.connector
  return `external:${connector !== undefined && name.test(connector) ? connector : 'invalid'}:/deliver`
}
