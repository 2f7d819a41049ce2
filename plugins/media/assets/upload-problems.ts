import { Problem, sandboxErrors } from '../../../core/plugin.js'
import { assetErrors } from './errors.js'

/** What a route may answer with that takes a file. */
export const uploadProblems = [
  assetErrors.asset_invalid,
  assetErrors.asset_type_unsupported,
  assetErrors.asset_store_full,
  sandboxErrors.sandbox_busy,
] as const

/** The same problem, with the place in the request of the field that it names, or of the file, which breaks `rule`. */
export const atPlace = ({ code, spec, occurrence }: Problem, place: string, rule?: string): Problem => {
  const whole = rule === undefined ? undefined : [{ path: place, rule }]
  const errors = occurrence.errors?.map((one) => ({
    ...one,
    path: one.path.includes('.') ? one.path : `${place}.${one.path}`,
  }))
  const told = errors ?? whole
  return new Problem(code, spec, { ...occurrence, ...(told !== undefined && { errors: told }) })
}
