/** Where a plugin's code cannot be parsed: the import says only what is wrong, `node --check` says where. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import type { Disk } from '../../state/disk/disk.js'
import { errors } from '../errors.js'
import { ownImportFault } from './own-import.js'

const mostFiles = 50

const placeIn = (text: string): string | undefined => /^(?:file:\/\/)?(\/.+:\d+)$/mu.exec(text)?.[1]

const sourcesIn = (disk: Disk, folder: string): string[] =>
  disk.list(folder).flatMap((name) => {
    const at = path.join(folder, name)
    if (name === 'node_modules') return []
    if (disk.stat(at)?.kind === 'folder') return sourcesIn(disk, at)
    return /\.m?js$/u.test(name) ? [at] : []
  })

/** `file:line` of the first line that cannot be parsed; undefined if all can. */
const check = (file: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], { env: {}, timeout: 10_000 }, (_, __, printed) => {
      resolve(printed.includes('SyntaxError') ? placeIn(printed) : undefined)
    })
  })

/** The sentence of an error that an import threw: with file and line if the code cannot be parsed, or what to do. */
export const importFault = async (disk: Disk, main: string, error: unknown): Promise<unknown> => {
  const reason = ownImportFault(error)
  if (reason !== undefined) return errors.plugin_refused({ details: { reason }, cause: error })
  if (!(error instanceof SyntaxError)) return error
  const refuse = (at: string): Error =>
    errors.plugin_refused({
      details: { reason: `${path.relative(path.dirname(main), at)}: ${error.message}` },
      cause: error,
    })
  const told = placeIn(error.stack ?? '')
  if (told !== undefined) return refuse(told)
  const files = [...new Set([main, ...sourcesIn(disk, path.dirname(main))])]
  for (const file of files.slice(0, mostFiles)) {
    const at = await check(file)
    if (at !== undefined) return refuse(at)
  }
  return error
}
