import { promises as fs } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { escapePath, glob } from 'tinyglobby'
import { doc, object, string } from '../../../core/plugin.js'
import { defineTool, type Tool, type ToolCall } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { baseField, below, fenceBelow, limitField } from './base.js'
import { fileErrors } from './errors.js'
import type { FileSurroundings } from './surroundings.js'
import type { Place } from './workspace.js'

/** Folders that nobody means, unless the pattern names them. */
const usuallyLeftOut = ['.git', 'node_modules']

const leftOut = (place: Place, pattern: string): string[] => {
  const fence = fenceBelow(place)
  const folders = usuallyLeftOut.filter((name) => !pattern.includes(name)).map((name) => `**/${name}/**`)
  return fence === undefined ? folders : [...folders, `${escapePath(fence)}/**`]
}

const walk = async (place: Place, pattern: string, signal: ToolCall['signal']): Promise<string[]> => {
  try {
    return await glob(pattern, {
      cwd: place.real,
      ignore: leftOut(place, pattern),
      dot: true,
      followSymbolicLinks: false,
      expandDirectories: false,
      signal,
    })
  } catch (error) {
    throw signal.aborted ? fileErrors.call_stopped() : error
  }
}

/** A folder may have become a link while it was walked: what then lies outside is dropped. */
const isStillInside = async (place: Place, path: string): Promise<boolean> => {
  const full = join(place.real, path)
  try {
    const parent = await fs.realpath(join(full, '..'))
    return join(parent, '/').startsWith(join(place.workspace.root, '/'))
  } catch {
    return false
  }
}

const keepInside = async (place: Place, paths: readonly string[]): Promise<string[]> => {
  const inside = await Promise.all(paths.map((path) => isStillInside(place, path)))
  return paths.filter((_, n) => inside[n] === true)
}

export const globSearchTool = ({ locate }: FileSurroundings): Tool =>
  defineTool({
    name: 'glob_search',
    description:
      'Finds files of the workspace whose path matches a glob pattern, such as `src/**/*.ts`, sorted by path. ' +
      'Leaves out .git and node_modules unless the pattern names them.',
    input: object({
      pattern: doc(string({ min: 1, max: 1000 }), 'Glob pattern, relative to the base. Must not contain "..".'),
      base: baseField,
      limit: limitField(1_000, 10_000),
    }),
    effect: 'read',
    parallel: true,
    timeout_ms: 10_000,
    sandbox: 'read_only',
    run: ({ pattern, base, limit }, call) =>
      answer(async () => {
        if (isAbsolute(pattern) || pattern.includes('..')) throw fileErrors.pattern_invalid()
        const place = await locate(call, base)
        const all = await walk(place, pattern, call.signal)
        const paths = await keepInside(place, all.toSorted().slice(0, limit))
        return {
          base: place.shown,
          pattern,
          paths: paths.map((path) => below(place, path)),
          truncated: all.length > limit,
        }
      }),
  })
