import { promises as fs } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { doc, object, string } from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { baseField, limitField } from './base.js'
import { fileErrors } from './errors.js'
import { filesBelow } from './files-below.js'
import type { FileSurroundings } from './surroundings.js'
import type { Workspace } from './workspace.js'

/** Folders that nobody means, unless the pattern names them. */
const usuallyLeftOut = ['.git', 'node_modules']

/** Ignore files do not count; a pattern without `**` reaches no deeper than it has slashes. */
const argsFor = (pattern: string): string[] => [
  '--no-ignore',
  ...(pattern.includes('**') ? [] : [`--max-depth=${pattern.split('/').length}`]),
  '--glob',
  `/${pattern}`,
  ...usuallyLeftOut.filter((name) => !pattern.includes(name)).flatMap((name) => ['--glob', `!${name}/`]),
]

/** A folder may have become a link while it was walked: what then lies outside is dropped. */
const keepInside = async ({ root }: Workspace, paths: readonly string[]): Promise<string[]> => {
  const isInside = async (folder: string): Promise<boolean> => {
    const real = await fs.realpath(join(root, folder)).catch(() => '')
    return join(real, '/').startsWith(join(root, '/'))
  }
  const folders = [...new Set(paths.map(dirname))]
  const inside = new Map(await Promise.all(folders.map(async (folder) => [folder, await isInside(folder)] as const)))
  return paths.filter((path) => inside.get(dirname(path)) === true)
}

export const globSearchTool = ({ locate, processes }: FileSurroundings): Tool =>
  defineTool({
    name: 'glob_search',
    description:
      'Finds files of the workspace whose path matches a glob pattern, such as `src/**/*.{ts,js}`, sorted by path. ' +
      'Leaves out .git and node_modules unless the pattern names them.',
    input: object({
      pattern: doc(
        string({ min: 1, max: 1000 }),
        'Glob pattern of *, **, ?, [...] and {a,b}, relative to the base. Must not contain "..".',
      ),
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
        const args = argsFor(pattern.replace(/^(?:\.\/)+/u, ''))
        const { items, truncated } = await filesBelow(place, { processes, args, limit, signal: call.signal })
        return { base: place.shown, pattern, paths: await keepInside(place.workspace, items), truncated }
      }),
  })
