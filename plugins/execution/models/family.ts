/** Which models a route takes: a name of another family is a slip of somebody who meant another route. */
import { modelErrors } from './errors.js'

/** Names of the models of a provider. */
export interface ModelFamily {
  /** In words, behind "must". */
  readonly rule: string
  has(model: string): boolean
}

/** A route, as far as families are concerned. */
export interface Familiar {
  readonly route_id: string
  readonly family?: ModelFamily
}

/** Throws `model_family_mismatch` (400) for a model that is none of the route's family. */
export const checkFamily = ({ route_id, family }: Familiar, model: string, path = 'body.model'): void => {
  if (family === undefined || family.has(model)) return
  throw modelErrors.model_family_mismatch({
    details: { route_id },
    errors: [{ path, rule: `must ${family.rule}` }],
  })
}
