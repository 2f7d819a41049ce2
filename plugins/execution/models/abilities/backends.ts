/** What routes can do beside asking their models: each capability of these a route has only where it says so. */
import { definePoint, hasMembers, type Point } from '../../../../core/plugin.js'

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
/** Everybody who does for routes what their models do not. */
export const RouteBackends: Point<RouteBackend> = definePoint<RouteBackend>(
  'route-backends@1',
  ({ id }) => id,
  hasMembers('a back end of routes', { id: 'id', providers: 'object', capabilities: 'object' }),
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
