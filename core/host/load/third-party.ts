/** Plugins that the operator names in `config/plugins.toml`. Their package.json is read before any of their code. */
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { errors as configErrors, hintFor } from '../../base/config.js'
import type { AnyKit, AnyPlugin, AnyPluginModule } from '../../plugin/contract.js'
import { unknownField } from '../../base/issue-rule.js'
import { parse, type Issue } from '../../base/parse.js'
import {
  boolean,
  defaulted,
  doc,
  isJsonObject,
  json,
  literal,
  object,
  open,
  optional,
  string,
  type Infer,
  type Json,
} from '../../base/schema.js'
import type { Disk } from '../../state/disk/disk.js'
import type { Clock } from '../../base/clock.js'
import { bounded } from '../bounded.js'
import { PluginId, pluginOf, thrownBy, type Candidate } from './candidate.js'
import { errors } from '../errors.js'
import { importing } from './load.js'
import { shareModules } from './shared.js'
import { importFault } from './syntax-fault.js'
import { readTomlFile } from './toml.js'

const Manifest = open({
  name: string({ min: 1 }),
  version: string({ min: 1 }),
  main: optional(string({ min: 1 })),
  exports: optional(json()),
  holdfast: object({ api: literal(1) }),
})
type Manifest = Infer<typeof Manifest>

/** One table of `config/plugins.toml`. */
const PluginEntry = object({
  from: doc(
    string({
      pattern: '^(state:[a-z0-9][a-z0-9._-]*|npm:(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*)$',
      told:
        'must be "state:<folder>" or "npm:<package>", with a name of small letters, digits, dots, hyphens and ' +
        'underscores that begins with a letter or digit',
    }),
    '`state:<folder under plugins/>` or `npm:<package>`.',
  ),
  required: doc(defaulted(boolean(), false), 'True: if it fails, the daemon does not start.'),
})
type Entry = Infer<typeof PluginEntry>

const decoder = new TextDecoder('utf-8', { fatal: true })
const refuse = (reason: string): never => {
  throw errors.plugin_refused({ details: { reason } })
}
const sentenceOf = (issues: readonly Issue[]): string => issues.map(({ path: at, rule }) => `${at} ${rule}`).join(', ')

const readJson = (bytes: Uint8Array, file: string): Json => {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return refuse(`${file} is not JSON`)
  }
}

const readManifest = (disk: Disk, folder: string): Manifest => {
  const bytes = disk.readFile(path.join(folder, 'package.json'))
  if (bytes === undefined) return refuse(`${folder} has no package.json`)
  const manifest = parse(Manifest, readJson(bytes, path.join(folder, 'package.json')))
  return manifest.ok
    ? manifest.value
    : refuse(`its package.json: ${sentenceOf(manifest.issues)} (this daemon speaks "holdfast": { "api": 1 })`)
}

/** `exports` as a text, its `.`, or the `import` or `default` of either. */
const exported = (value: Json | undefined): string | undefined => {
  if (typeof value === 'string' || value === undefined) return value
  return isJsonObject(value) ? exported(value['.'] ?? value['import'] ?? value['default']) : undefined
}

const notFile = {
  absent: 'does not exist',
  folder: 'is a folder and no file',
  link: 'is a link: put the file itself in its place',
  other: 'is a pipe, a socket or a device and no file',
} as const

const mainFile = (disk: Disk, folder: string, manifest: Manifest): string => {
  const main = exported(manifest.exports) ?? manifest.main ?? 'index.js'
  const file = path.resolve(folder, main)
  if (!file.startsWith(folder + path.sep)) return refuse(`its main file ${main} is outside of its folder`)
  const kind = disk.stat(file)?.kind
  return kind === 'file' ? file : refuse(`its main file ${main} ${notFile[kind ?? 'absent']}`)
}

/** The folder of the package that this file belongs to. */
export const packageFolder = (disk: Disk, from: string): string => {
  const above = path.dirname(from)
  return disk.stat(path.join(from, 'package.json')) !== undefined || above === from ? from : packageFolder(disk, above)
}

/** `npm:` packages are installed with `npm install --prefix <root>/plugins <package>`, or beside the daemon. */
const folderOf = (disk: Disk, root: string, from: string): string => {
  const [kind, name = ''] = from.split(/:(.*)/su)
  const beside = path.join(packageFolder(disk, fileURLToPath(new URL('.', import.meta.url))), 'node_modules')
  const places = kind === 'state' ? [path.join(root, 'plugins')] : [path.join(root, 'plugins', 'node_modules'), beside]
  const found = places.map((place) => path.join(place, name)).find((folder) => disk.stat(folder)?.kind === 'folder')
  return found ?? refuse(`there is no folder ${path.join(places[0] ?? '', name)}`)
}

/** Where third-party plugins are looked for, and what they are given. */
export interface ThirdPartyPlace {
  readonly disk: Disk
  readonly root: string
  readonly kit: AnyKit
  readonly clock: Clock
  /** Most milliseconds that the code of one plugin may take until it is imported. */
  readonly patienceMs: number
}

/** What the code does at its import may never end. The search for the place of a fault is not its work. */
const importPlugin = async (place: ThirdPartyPlace, file: string, id: string): Promise<AnyPlugin> => {
  const { disk, kit, clock, patienceMs: ms } = place
  await shareModules()
  const imported: Promise<Partial<AnyPluginModule>> = import(pathToFileURL(file).href)
  const module = await bounded(imported, { clock, ms, what: importing }).catch(async (error: unknown) => {
    throw thrownBy('its main file', await importFault(disk, file, error))
  })
  return pluginOf(module, kit, id)
}

/** The main file of the package in a folder, which says that it is a plugin. */
export const mainOf = (disk: Disk, folder: string): string => mainFile(disk, folder, readManifest(disk, folder))

const candidate = (place: ThirdPartyPlace, [id, entry]: readonly [string, Entry]): Candidate => {
  const { disk, root } = place
  const { from, required } = entry
  const name = from.replace(/^[a-z]+:/u, '')
  const code = `/plugins/${from.startsWith('npm:') ? 'node_modules/' : ''}${name}/`
  return {
    id,
    from,
    required,
    owns: (line) => line.includes(code),
    load: async () => {
      const folder = folderOf(disk, root, from)
      return importPlugin(place, mainOf(disk, folder), id)
    },
  }
}

/** Its member and what is wrong with it. People look for the settings of a plugin where it is named. */
const toldOf = (id: string, issue: Issue, table: unknown): { readonly member: string; readonly text: string } => {
  const member = issue.path === '' ? id : `${id}.${issue.path}`
  const hint = hintFor(issue, { struct: PluginEntry, value: table })
  const isSetting = issue.rule === unknownField && hint === ''
  const where = isSetting ? `: settings of the plugin stand in config/${id}.toml` : ''
  return { member, text: `${member} ${issue.rule}${hint}${where}` }
}

/** What `config/plugins.toml` names, in its order. A file that cannot be read stops the start. */
export const thirdPartyCandidates = (place: ThirdPartyPlace): readonly Candidate[] => {
  const file = readTomlFile(place.disk, path.join(place.root, 'config', 'plugins.toml'))
  return Object.entries(file?.table ?? {}).map(([id, table]) => {
    const name = parse(PluginId, id)
    const entry = parse(PluginEntry, table)
    if (name.ok && entry.ok) return candidate(place, [id, entry.value])
    const told = name.ok
      ? (entry.ok ? [] : entry.issues).map((issue) => toldOf(id, issue, table))
      : name.issues.map(({ rule }) => ({
          member: id,
          text: `${JSON.stringify(id)} is no name of a plugin: it ${rule}`,
        }))
    const line = file?.lineOf(told[0]?.member ?? id)
    throw configErrors.config_invalid({
      details: {
        source: line === undefined ? 'config/plugins.toml' : `config/plugins.toml:${line}`,
        problem: told.map(({ text }) => text).join(', '),
      },
    })
  })
}
