import { Problem } from '../../base/errors.js'
import type { Json } from '../../base/schema.js'

/** A problem that a daemon answered with, and the document as it came. */
export class DaemonProblem extends Problem {
  readonly document: Json

  constructor(document: Json, { code, spec, occurrence }: Problem) {
    super(code, spec, occurrence)
    this.document = document
  }
}
