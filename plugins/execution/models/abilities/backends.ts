/** What routes can do beside asking their models: each capability of these a route has only where it says so. */
import { array, definePoint, enums, hasMembers, open, parseOnce, string, type Point } from '../../../../core/plugin.js'

/** Capabilities that cost something of their own, or tell others what is asked: nobody has them unasked. */
export const optIns = [
  'native_web_search',
  'image_generation',
  'image_edit',
  'audio_generation',
  'transcription',
] as const
/** One of `optIns`. */
export type OptIn = (typeof optIns)[number]

/** Says that routes of some providers may have capabilities, because there is somebody who does it (models-50). */
export interface RouteBackend {
  readonly id: string
  /** Wire names of the providers. */
  readonly providers: readonly string[]
  readonly capabilities: readonly OptIn[]
}
const isNamed = hasMembers<RouteBackend>('a back end of routes', { id: 'id' })
const Shape = open({ providers: array(string({ min: 1 })), capabilities: array(enums(optIns)) })
const backendFault = (backend: RouteBackend): string | undefined => {
  const reason = isNamed(backend)
  if (reason !== undefined) return reason
  const { providers, capabilities } = backend
  const shape = parseOnce(Shape, { providers, capabilities })
  const [issue] = shape.ok ? [] : shape.issues
  return issue && `the back end of routes ${backend.id} is wrong: ${issue.path} ${issue.rule}`
}
/** Everybody who does for routes what their models do not. */
export const RouteBackends: Point<RouteBackend> = definePoint<RouteBackend>(
  'route-backends@1',
  ({ id }) => id,
  backendFault,
)

/** Models that a route names for capabilities of its own, beside the one that runs use. */
export interface OwnModels {
  /** Of `image_generation` and `image_edit`. */
  readonly image?: string | undefined
  /** Of `audio_generation`. */
  readonly audio?: string | undefined
  readonly transcription?: string | undefined
}

/** Providers for whose routes somebody does this, by name. */
export const ableProviders = (backends: readonly RouteBackend[], capability: string): readonly string[] => {
  const able = backends.filter(({ capabilities }) => capabilities.some((one) => one === capability))
  return [...new Set(able.flatMap(({ providers }) => providers))].sort()
}

export const hasBackend = (backends: readonly RouteBackend[], provider: string, capability: string): boolean =>
  ableProviders(backends, capability).includes(provider)
