/** What the models of a route can, as flags. */
import { boolean, literal } from '../../../../core/plugin.js'

/** Capability flags of a model route (models-1). */
export interface RouteCapabilities {
  readonly matrix_version: 2
  readonly multimodal_input: boolean
  readonly native_web_search: boolean
  readonly image_generation: boolean
  readonly image_edit: boolean
  readonly audio_generation: boolean
  readonly transcription: boolean
}
/** The structs of `RouteCapabilities`, to spread into an object of flat flags. */
export const routeCapabilityFields = {
  matrix_version: literal(2),
  multimodal_input: boolean(),
  native_web_search: boolean(),
  image_generation: boolean(),
  image_edit: boolean(),
  audio_generation: boolean(),
  transcription: boolean(),
}
/** What a model can that reads and writes text and nothing else. */
export const textOnly: RouteCapabilities = Object.freeze({
  matrix_version: 2,
  multimodal_input: false,
  native_web_search: false,
  image_generation: false,
  image_edit: false,
  audio_generation: false,
  transcription: false,
})

/** What a model can that reads pictures too. */
export const textAndImages: RouteCapabilities = Object.freeze({ ...textOnly, multimodal_input: true })
