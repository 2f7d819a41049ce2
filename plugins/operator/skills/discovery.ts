/** Looks through the roots for skills. Reads, and changes nothing. */
import { hash } from 'node:crypto'
import { dirname } from 'node:path'
import { commandLine, findOutside, readOutside, type OutsideFind } from '../../../core/plugin.js'
import type { SkillItem } from '../../execution/memory/contract.js'
import { promotedFolder, type SkillRoot } from './roots.js'
import { edit, pasted } from './shell-lines.js'
import { readSkill, type ParseYaml, type ReadSkill, type SkillContent, type SkillFiles } from './skill-file.js'

export interface Skill extends SkillContent, Pick<SkillItem, 'updated_at_ms'> {}

export interface SkillWarning {
  readonly code:
    | 'skill_invalid'
    | 'skill_duplicate'
    | 'skill_root_missing'
    | 'skill_root_cut'
    | 'skill_link_refused'
    | 'skill_setting_unread'
  readonly message: string
  /** What to do, with a line to paste into a shell. */
  readonly action: string
}

/** What is known of skills at one time. */
export interface Catalogue {
  /** By name. */
  readonly skills: ReadonlyMap<string, Skill>
  /** Those that are there, with every link resolved. */
  readonly roots: readonly string[]
  /** The folders that were seen in them. */
  readonly folders: readonly string[]
  /** By path: what each file says, so that it is read as YAML again only when it says something else. */
  readonly files: ReadonlyMap<string, KnownFile>
  readonly warnings: readonly SkillWarning[]
}
export const nothing: Catalogue = { skills: new Map(), roots: [], folders: [], files: new Map(), warnings: [] }

interface KnownFile {
  readonly digest: string
  readonly read: ReadSkill
}

const [depth, folders, entries] = [6, 2_000, 20_000]
const mostBytes = 256 * 1024
const mostSideBytes = 16 * 1024
const mostSkills = 5_000
/** Warnings that are told; the rest is counted. */
const mostWarnings = 50

let loaded: Promise<ParseYaml> | undefined
/** Every value stays text; few aliases, which otherwise multiply. Loaded with the first skill. */
export const loadYaml = (): Promise<ParseYaml> =>
  (loaded ??= import('yaml').then(
    ({ parse }) =>
      (text) =>
        parse(text, {
          schema: 'failsafe',
          maxAliasCount: 10,
          logLevel: 'error',
          prettyErrors: false,
          uniqueKeys: true,
        }),
  ))

interface Search {
  readonly before: Catalogue
  readonly skills: Map<string, Skill>
  readonly seen: Set<string>
  readonly roots: string[]
  /** Begins the paths of files that the daemon writes, once it is known. */
  promoted?: string
  readonly folders: string[]
  readonly files: Map<string, KnownFile>
  readonly warn: (code: SkillWarning['code'], message: string, action: string) => void
}

interface Place {
  readonly root: string
  readonly scope: SkillRoot['scope']
  readonly file: string
}

const sideOf = (file: string): string =>
  `${file.split('/').slice(0, -1).join('/')}/agents/service.yaml`.replace(/^\//u, '')

type Found = { readonly skill: Skill } | { readonly rule: string }

/** By what the files say and not by their times: those tell too little of a file that is written twice at once. */
const readKnown = async (search: Search, files: SkillFiles): Promise<ReadSkill> => {
  const path = `${files.root}/${files.path}`
  const digest = hash('sha256', JSON.stringify(files))
  const known = search.before.files.get(path)
  const file = known?.digest === digest ? known : { digest, read: readSkill(files, await loadYaml()) }
  search.files.set(path, file)
  return file.read
}

const readOne = async (search: Search, { root, scope, file }: Place): Promise<Found> => {
  const text = await readOutside(root, file, mostBytes)
  const side = await readOutside(root, sideOf(file), mostSideBytes)
  if (text === undefined) return { rule: 'must be readable' }
  if (!text.ok) return text
  if (side?.ok === false) return { rule: `agents/service.yaml ${side.rule}` }
  const files = { path: file, root, scope, text: text.text, side: side?.text }
  const read = await readKnown(search, files)
  if (!read.ok) return read
  return { skill: Object.assign({ updated_at_ms: text.modified_at_ms }, read.skill) }
}

/** A file that was good before and is not now counts as it was: it may be half written. */
const lastGood = ({ before }: Search, skill_path: string): Skill | undefined =>
  [...before.skills.values()].find(({ summary }) => summary.skill_path === skill_path)

/** Who writes what a skill may not do, and where it means nothing, believes that it holds. */
const tellUnread = (search: Search, { unread, summary: { skill_path } }: Skill): void => {
  if (unread.length === 0) return
  const agents = `${dirname(skill_path)}/agents`
  const line = `${pasted('mkdir', '-p', agents)} && ${edit(`${agents}/service.yaml`)}`
  search.warn(
    'skill_setting_unread',
    `${skill_path} says ${unread.join(', ')}, which nobody looks at`,
    `How a skill runs stands beside it, in agents/service.yaml: ${line}`,
  )
}

const take = (search: Search, skill: Skill): void => {
  const { name, skill_path } = skill.summary
  const first = search.skills.get(name)
  if (first === undefined) {
    search.skills.set(name, skill)
    tellUnread(search, skill)
    return
  }
  const counted = first.summary.skill_path
  const isPromoted = search.promoted !== undefined && skill_path.startsWith(search.promoted)
  search.warn(
    'skill_duplicate',
    `${skill_path} has the name ${name} of ${counted}, which counts`,
    isPromoted
      ? `The daemon writes that file; give the one that counts another name: ${edit(counted)}`
      : `Give it another name: ${edit(skill_path)}`,
  )
}

const takeFile = async (search: Search, place: Place): Promise<void> => {
  const { root, file } = place
  const found = await readOne(search, place)
  if ('skill' in found) return take(search, found.skill)
  const good = lastGood(search, `${root}/${file}`)
  search.warn(
    'skill_invalid',
    `${root}/${file} is ${good === undefined ? 'skipped' : 'as it was before'}: ${found.rule}`,
    `Correct it; it is read again when it changes: ${edit(`${root}/${file}`)}`,
  )
  if (good !== undefined) take(search, good)
}

const tellOf = ({ warn }: Search, { root, strays, isCut }: OutsideFind): void => {
  for (const stray of strays)
    warn(
      'skill_link_refused',
      `${root}/${stray} leads out of its root`,
      `Put there what it leads to: ${pasted('readlink', '-f', `${root}/${stray}`)}`,
    )
  if (isCut)
    warn(
      'skill_root_cut',
      `${root} has more than ${folders} folders or ${entries} entries; the rest of it is not looked at`,
      `Name a folder that holds skills alone. What this one holds: ${pasted('ls', root)}`,
    )
}

const missing = ({ warn }: Search, folder: string): void =>
  warn(
    'skill_root_missing',
    `the folder ${folder} is not there`,
    `Take it out of config/skills.toml, or make it: ${pasted('mkdir', '-p', folder)}`,
  )

const takeRoot = async (search: Search, { folder, scope, isNamed, isOfState }: SkillRoot): Promise<void> => {
  const found = await findOutside(folder, { name: 'SKILL.md', depth, folders, entries })
  if (found === undefined && isNamed) missing(search, folder)
  if (found === undefined || search.seen.has(found.root)) return
  search.seen.add(found.root)
  search.roots.push(found.root)
  if (isOfState === true) search.promoted = `${found.root}/${promotedFolder}/`
  search.folders.push(...found.within)
  tellOf(search, found)
  for (const file of found.files)
    if (search.skills.size < mostSkills) await takeFile(search, { root: found.root, scope, file })
}

/** Everything below the roots as it is now; `before` is what was known until now. */
export const discover = async (roots: readonly SkillRoot[], before: Catalogue): Promise<Catalogue> => {
  const warnings: SkillWarning[] = []
  let untold = 0
  const search: Search = {
    before,
    skills: new Map(),
    seen: new Set(),
    roots: [],
    folders: [],
    files: new Map(),
    warn(code, message, action) {
      if (warnings.length < mostWarnings) warnings.push({ code, message, action })
      else untold += 1
    },
  }
  for (const root of roots) await takeRoot(search, root)
  if (untold > 0)
    warnings.push({
      code: 'skill_invalid',
      message: `${untold} further warnings are left out`,
      action: `See to the others first: ${commandLine('skills list')}`,
    })
  const skills = new Map([...search.skills].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return { skills, roots: search.roots, folders: search.folders, files: search.files, warnings }
}
