/** Which route makes it: one that has the capability, and that the session may use. */
import type { ModelRoute, Models } from '../../execution/models/contract.js'
import type { SessionRecord, Sessions } from '../../execution/sessions/contract.js'
import type { MediaMaker } from './wishes.js'
import { makerErrors } from './errors.js'

/** What routes can have that makes something. */
export type Making = 'image_generation' | 'image_edit' | 'audio_generation'

export interface ChoiceParts {
  readonly models: Models
  readonly makers: () => readonly MediaMaker[]
  readonly sessions: () => Sessions | undefined
}

export interface Chosen {
  readonly route: ModelRoute
  readonly maker: MediaMaker
}

interface Wish {
  readonly session_id: string
  /** The route of the run. */
  readonly own: string | undefined
  /** What the model named: a route, or a provider. */
  readonly provider: string | undefined
}

const isAllowed = ({ sessions }: ChoiceParts, session: SessionRecord | undefined, route_id: string): boolean =>
  session?.credential_scope === undefined || sessions()?.mayUseRoute(session, route_id) === true

/** Who makes it for routes of a provider; undefined if nobody does, whatever a route says. */
const makerOf = ({ makers }: ChoiceParts, making: Making, provider: string): MediaMaker | undefined =>
  makers().find((one) => one.provider === provider && one[making === 'audio_generation' ? 'speech' : 'pictures'])

/** The routes that could, those that are ready before the others. */
export const ableRoutes = (parts: ChoiceParts, making: Making, session_id: string): readonly ModelRoute[] => {
  const able = parts.models
    .list()
    .filter(({ capabilities, provider }) => capabilities[making] && makerOf(parts, making, provider) !== undefined)
  if (able.length === 0) return able
  const session = parts.sessions()?.find(session_id)
  const allowed = able.filter(({ route_id }) => isAllowed(parts, session, route_id))
  const isReady = ({ connection }: ModelRoute): boolean => connection.readiness().state !== 'error'
  return [...allowed.filter(isReady), ...allowed.filter((route) => !isReady(route))]
}

/** Throws `media_unavailable` and `media_route_unable`. */
export const chooseRoute = (parts: ChoiceParts, making: Making, { session_id, own, provider }: Wish): Chosen => {
  const able = ableRoutes(parts, making, session_id)
  const named = (name: string | undefined) => able.find(({ route_id }) => route_id === name)
  const route =
    provider === undefined
      ? (named(own) ?? named(parts.models.default_route) ?? able[0])
      : (named(provider) ?? able.find((one) => one.provider === provider))
  const maker = route && makerOf(parts, making, route.provider)
  if (route !== undefined && maker !== undefined) return { route, maker }
  throw provider === undefined
    ? makerErrors.media_unavailable({ details: { capability: making } })
    : makerErrors.media_route_unable({ details: { route: provider, capability: making } })
}
