/** A plugin that imports what is only where its author wrote it: what it is told. */
import { messageOf } from '../../base/text/thrown.js'

/** What an import at run time of this module comes to. */
export const notThere = (specifier: string): string =>
  `it imports ${specifier} at run time, which is not there where a daemon loads it`

/** What to do in its place. */
export const fromKit = 'take what it is from the kit, which the default export is given, and types with import type'

const missing = /^Cannot find (?:package|module) '(holdfast(?:\/[^']*)?)'/u

/** The sentence for an import of ours that failed; undefined for anything else. */
export const ownImportFault = (error: unknown): string | undefined => {
  const specifier = missing.exec(messageOf(error))?.[1]
  return specifier && `${notThere(specifier)}: ${fromKit}`
}
