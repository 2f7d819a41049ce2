/** Where a search begins. */
import { defaulted, doc, integer, string } from '../../../core/plugin.js'
import { relative, sep } from 'node:path'
import type { Place } from './workspace.js'

export const baseField = doc(
  defaulted(string({ min: 1, max: 4096 }), '.'),
  'Folder to search in, relative to the workspace.',
)
export const limitField = (usual: number, max: number) =>
  doc(defaulted(integer({ min: 1, max }), usual), 'Most results to return.')

/** The path of a find below a base, relative to the workspace. */
export const below = (base: Place, found: string): string => (base.shown === '.' ? found : `${base.shown}/${found}`)

/** The fenced folder relative to the base, if it is inside it. */
export const fenceBelow = ({ workspace: { fenced }, real }: Place): string | undefined => {
  if (fenced === undefined) return undefined
  const path = relative(real, fenced)
  return path === '' || path.startsWith('..') ? undefined : path.split(sep).join('/')
}
