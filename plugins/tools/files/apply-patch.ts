import { promises as fs } from 'node:fs'
import { basename, resolve, sep } from 'node:path'
import { Problem, doc, inTurns, object, string, type Json, type Portions } from '../../../core/plugin.js'
import { defineTool, type Tool, type ToolCall } from '../../execution/tools/contract.js'
import { answer, answerable, systemCode } from './answer.js'
import { maxFileBytes, readPlace, sha256, textOf, type FileContent } from './content.js'
import { fileErrors } from './errors.js'
import { writeFiles, type FileStep } from './patch-files.js'
import { patchErrors } from './patch/errors.js'
import { applyHunks } from './patch/fit.js'
import { parsePatch, type FilePatch } from './patch/parse.js'
import type { PathLocks } from './path-locks.js'
import type { FileSurroundings } from './surroundings.js'
import { parentOf, withFolder, type Place } from './workspace.js'

const PatchInput = object({
  patch: doc(
    string({ min: 1, max: 1024 * 1024 }),
    'From "*** Begin Patch" to "*** End Patch", with sections "*** Update File: PATH" (then, to rename it, ' +
      '"*** Move to: PATH"), "*** Add File: PATH" and "*** Delete File: PATH".',
  ),
})

/** New content of all files of a patch, bytes. */
const mostBytes = 64 * 1024 * 1024

/** A section of the patch with the places that it names. */
interface Target {
  readonly patch: FilePatch
  readonly place: Place
  readonly to: Place | undefined
}

const placesOf = ({ place, to }: Target): Place[] => (to === undefined ? [place] : [place, to])

/** Throws `patch_path_twice`: the order of sections has no meaning, so none may undo what another does. */
const expectApart = (places: readonly Place[]): void => {
  const sorted = places.toSorted((a, b) => (a.real + sep < b.real + sep ? -1 : 1))
  for (const [n, { real, shown }] of sorted.entries()) {
    const before = sorted[n - 1]?.real
    if (before !== undefined && (real + sep).startsWith(before + sep))
      throw patchErrors.patch_path_twice({ details: { path: shown } })
  }
}

const expectAbsent = async (place: Place): Promise<void> => {
  try {
    await withFolder(parentOf(place), { use: (folder) => fs.lstat(folder.at(basename(place.real))) })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  throw patchErrors.patch_path_taken({ details: { path: place.shown } })
}

/** What goes away must be the file itself: behind a link stands another name. */
const expectNoLink = async ({ workspace }: Place, path: string): Promise<void> => {
  if ((await fs.lstat(resolve(workspace.root, path))).isSymbolicLink()) throw fileErrors.path_not_a_file()
}

/** Ends work that takes long when nobody waits for it any more. */
function* stoppable<T>(work: Portions<T>, signal: AbortSignal): Portions<T> {
  for (;;) {
    if (signal.aborted) throw fileErrors.call_stopped()
    const step = work.next()
    if (step.done === true) return step.value
    yield
  }
}

type UpdatePatch = Extract<FilePatch, { type: 'update' }>

const updated = async (
  { bytes }: FileContent,
  { hunks }: UpdatePatch,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<Buffer> => {
  const text = textOf(bytes)
  if (text === undefined) throw fileErrors.file_not_text()
  const made = Buffer.from(await inTurns(stoppable(applyHunks(text, hunks, path), signal)))
  if (made.length > maxFileBytes)
    throw fileErrors.file_too_large({ details: { bytes: made.length, limit: maxFileBytes } })
  return made
}

/** What is to be done with the paths of a section. Writes nothing. */
const stepsOf = async ({ patch, place, to }: Target, signal: AbortSignal): Promise<FileStep[]> => {
  if (patch.type === 'add') {
    await expectAbsent(place)
    return [{ type: 'write', place, bytes: Buffer.from(patch.content), mode: undefined }]
  }
  const goes = patch.type === 'delete' || to !== undefined
  if (goes) await expectNoLink(place, patch.path)
  if (patch.type === 'delete') {
    await expectFile(place)
    return [{ type: 'remove', place }]
  }
  const old = await readPlace(place)
  const bytes = await updated(old, patch, { path: place.shown, signal })
  if (to !== undefined) await expectAbsent(to)
  const written: FileStep = { type: 'write', place: to ?? place, bytes, mode: old.mode & 0o777 }
  return to === undefined ? [written] : [written, { type: 'remove', place }]
}

/** A file of any size may go. */
const expectFile = async (place: Place): Promise<void> => {
  const stat = await withFolder(parentOf(place), { use: (folder) => fs.lstat(folder.at(basename(place.real))) })
  if (!stat.isFile()) throw fileErrors.path_not_a_file()
}

const made = { add: 'added', delete: 'deleted', update: 'updated' } as const

const shown = ({ patch, place, to }: Target, [step]: readonly FileStep[]): { [key: string]: Json } => ({
  path: (to ?? place).shown,
  change: to === undefined ? made[patch.type] : 'moved',
  ...(to !== undefined && { from: place.shown }),
  ...(step?.type === 'write' && { bytes_written: step.bytes.length, sha256: sha256(step.bytes) }),
})

/** One at a time in the order of their paths, so that no two patches wait for each other. */
const holdAll = <T>(locks: PathLocks, paths: readonly string[], work: () => Promise<T>): Promise<T> => {
  const [first, ...others] = paths
  return first === undefined ? work() : locks.hold(first, () => holdAll(locks, others, work))
}

/** A problem of one of many files says which. */
const named = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await answerable(work)
  } catch (error) {
    if (!(error instanceof Problem) || error.code in patchErrors) throw error
    const { code, spec, occurrence } = error
    const details = { ...occurrence.details, file: path }
    throw new Problem(
      code,
      { ...spec, detail: `{file}: ${spec.detail} No file was changed.` },
      { ...occurrence, details },
    )
  }
}

const apply = async (targets: readonly Target[], locks: PathLocks, call: ToolCall): Promise<Json> => {
  const places = targets.flatMap(placesOf)
  expectApart(places)
  return holdAll(locks, places.map(({ real }) => real).toSorted(), async () => {
    const all: FileStep[][] = []
    let bytes = 0
    for (const target of targets) {
      const steps = await named(target.patch.path, () => stepsOf(target, call.signal))
      for (const step of steps) bytes += step.type === 'write' ? step.bytes.length : 0
      if (bytes > mostBytes) throw patchErrors.patch_too_large({ details: { limit: '64 MiB of files' } })
      all.push(steps)
    }
    await writeFiles(all.flat(), call.key)
    return { files: targets.map((target, n) => shown(target, all[n] ?? [])) }
  })
}

/** `once`: what it takes for granted does not hold any more when it has been there. */
export const applyPatchTool = ({ locateToChange, locks }: FileSurroundings): Tool =>
  defineTool({
    name: 'apply_patch',
    description:
      'Changes, adds, deletes and renames files of the workspace by one patch: all of it or nothing. In an ' +
      '"*** Update File: PATH" section a hunk begins with "@@", or "@@ LINE" with a line that stands above it, such ' +
      'as the head of a function; then about three lines of context with a space before each, lines that go with ' +
      '"-", lines that come with "+". Lines of an "*** Add File: PATH" section begin with "+".',
    input: PatchInput,
    effect: 'once',
    parallel: false,
    timeout_ms: 30_000,
    sandbox: 'workspace_write',
    run: ({ patch }, call) =>
      answer(async () => {
        const targets: Target[] = []
        for (const file of parsePatch(patch)) {
          const to = file.type === 'update' ? file.to : undefined
          const find = (path: string): Promise<Place> => named(path, () => locateToChange(call, path))
          targets.push({ patch: file, place: await find(file.path), to: to === undefined ? to : await find(to) })
        }
        return apply(targets, locks, call)
      }),
  })
