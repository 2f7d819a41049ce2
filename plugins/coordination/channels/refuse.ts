import { Problem } from '../../../core/plugin.js'
import { channelErrors } from './errors.js'

/** Throws `channel_invalid_request` for one field of a request. */
export const refuse = (field: string, rule: string): never => {
  throw channelErrors.channel_invalid_request({
    details: { reason: `${field} ${rule}.` },
    errors: [{ path: `body.${field}`, rule }],
  })
}

/** The trimmed text, which must say something. */
export const required = (field: string, text: string | undefined): string => {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? refuse(field, 'must not be blank') : trimmed
}

const control = /\p{Cc}/u
/** A name in one line. */
export const nameOf = (field: string, text: string | undefined, most = 200): string => {
  const name = required(field, text)
  if (control.test(name)) return refuse(field, 'must not hold control characters')
  return [...name].length > most ? refuse(field, `must have at most ${most} characters`) : name
}

/** The same for one that may be left out. */
export const nameIn = (field: string, text: string | undefined, most = 200): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : nameOf(field, text, most)

/** What a step throws of `body.x`, as of `body.<place>.x`. */
export const placedUnder = <T>(place: string, step: () => T): T => {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof Problem) || error.occurrence.errors === undefined) throw error
    const errors = error.occurrence.errors.map(({ path, rule }) => ({
      path: path.replace(/^body\./u, `body.${place}.`),
      rule,
    }))
    throw new Problem(error.code, error.spec, { ...error.occurrence, errors })
  }
}
