/** How many files and connections this process may hold open, and how many of them connections may take. */
import { readFileSync } from 'node:fs'
import { parse } from '../../base/parse.js'
import { integer, open } from '../../base/schema.js'

const most = 16_384
const Report = open({ userLimits: open({ open_files: open({ soft: integer({ min: 1 }) }) }) })

/** Linux says it in a file, and making a report takes long. */
const fromFile = (): string | undefined => {
  try {
    return /^Max open files\s+(\d+)/mu.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
const fromReport = (): number | undefined => {
  const parsed = parse(Report, process.report.getReport())
  return parsed.ok ? parsed.value.userLimits.open_files.soft : undefined
}

/** The limit of the system; undefined where it has none or does not say. */
export const openFilesLimit = (): number | undefined => {
  const found = fromFile()
  return found === undefined ? fromReport() : Number(found)
}

/** Most connections under a limit: the rest is kept for the state, commands and calls to others. */
export const connectionsWithin = (limit: number | undefined): number =>
  limit === undefined ? most : Math.min(most, limit - Math.min(Math.max(256, Math.ceil(limit / 4)), limit >> 1))
