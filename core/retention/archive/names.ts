/** What files of archives are called. */
import path from 'node:path'
import type { ArchiveHeader } from './lines.js'

/** `runs-2027-01-31T09-00-00-000Z.ndjson.gz`, in a folder of the root's own; others of the moment are numbered. */
export const placeOf = (folder: string, { of, root, archived_at_ms }: ArchiveHeader, no: number): string => {
  const moment = new Date(archived_at_ms).toISOString().replaceAll(/[:.]/gu, '-')
  return path.join(folder, root, `${of}-${moment}${no === 1 ? '' : `-${no}`}.ndjson.gz`)
}

const named = /(?:^|\/)[a-z][a-z0-9_]*-(\d{4,}-\d\d-\d\dT[\d-]+Z(?:-\d+)?)\.ndjson\.gz$/u
export const isArchive = (name: string): boolean => named.test(name)
/** When it was written, as its name says. */
export const momentIn = (name: string): string => named.exec(name)?.[1] ?? ''

/** What was cut off in its middle has this behind its name, and is no archive. */
export const unfinished = '.part'
export const isUnfinished = (name: string): boolean =>
  name.endsWith(unfinished) && isArchive(name.slice(0, -unfinished.length))
