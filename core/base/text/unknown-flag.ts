import { errors } from '../config.js'
import type { Problem } from '../errors.js'
import { nearest } from '../words/nearest.js'

/** The refusal of a flag that is not among those that are known; it says which one was most likely meant. */
export const unknownFlag = (flag: string, known: Iterable<string>, meant = nearest(flag, known)): Problem =>
  errors.flag_unknown({ details: { flag, hint: meant === undefined ? '' : `; did you mean --${meant}?` } })
