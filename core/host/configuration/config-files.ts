/** Which files in `config/` somebody reads, and what to say of the others. */
import path from 'node:path'
import type { Warning } from '../../base/health.js'
import { Problem } from '../../base/errors.js'
import { shellWord } from '../../base/text/command-text.js'
import { visibleLine } from '../../base/text/visible.js'
import { nearest } from '../../base/words/nearest.js'
import type { Disk } from '../../state/disk/disk.js'
import { readToml } from '../load/toml.js'

/** Files that the daemon itself reads. */
const ownFiles = ['plugins', 'retention']
const ending = '.toml'

export interface ConfigFiles {
  readonly disk: Disk
  readonly root: string
  /** Ids of the plugins that are here, loaded or not: each may have a file of its name. */
  readonly plugins: readonly string[]
  /** Files that have a list, by their names without `.toml`. */
  readonly lists: () => readonly string[]
}

/** Plugins that `config/plugins.toml` names: a safe start leaves them out, and one just added waits for a start. */
const namedPlugins = ({ disk, root }: ConfigFiles): string[] => {
  try {
    return Object.keys(readToml(disk, path.join(root, 'config', `plugins${ending}`)) ?? {})
  } catch (error) {
    if (error instanceof Problem) return []
    throw error
  }
}

/** Names without `.toml` of the files that somebody reads, or will read at the next start. */
export const knownFiles = (files: ConfigFiles): ReadonlySet<string> =>
  new Set([...ownFiles, ...files.plugins, ...files.lists(), ...namedPlugins(files)])

/** The file that was meant; undefined if this one is nobody's business, as a copy that an editor left. */
const meant = (file: string, known: ReadonlySet<string>): string | undefined => {
  const [stem = ''] = file.split('.')
  if (known.has(stem)) return file.startsWith(`${stem}${ending}`) ? undefined : `${stem}${ending}`
  return nearest(
    file,
    [...known].map((name) => `${name}${ending}`),
  )
}

const isHidden = (file: string): boolean => file.startsWith('.') || file.endsWith('~')

/** One warning for each file that nobody reads and that looks as if somebody should. */
export const strangeFiles = (files: ConfigFiles): Warning[] => {
  const [{ disk, root }, known] = [files, knownFiles(files)]
  const folder = path.join(root, 'config')
  const there = disk.list(folder)
  return there.flatMap((file): Warning[] => {
    const isToml = file.endsWith(ending)
    if (isHidden(file) || (isToml && known.has(file.slice(0, -ending.length)))) return []
    const wanted = meant(file, known)
    if (!isToml && wanted === undefined) return []
    return [
      {
        severity: 'warning',
        code: 'config_file_unknown',
        message: `Nobody reads config/${visibleLine(file)}: what stands in it has no effect.`,
        related_id: visibleLine(file),
        action:
          wanted === undefined || there.includes(wanted)
            ? 'Move it elsewhere; docs/reference/configuration.md names the files that are read.'
            : `If it is meant as config/${wanted}, rename it and start again: ` +
              `mv -n ${shellWord(path.join(folder, file))} ${shellWord(path.join(folder, wanted))}`,
      },
    ]
  })
}
