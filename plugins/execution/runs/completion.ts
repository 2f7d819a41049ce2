/**
 * What must hold before a run completes. Judged by files, before and after,
 * and by the outcomes of the run's own calls, never by what the model says.
 */
import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../../core/plugin.js'
import type { CompletionRequirement, FileMark, JournalEntry, RunRecord } from './contract.js'
import { runErrors } from './errors.js'
import { change, type EngineParts, type Execution } from './parts.js'
import { entryAt, type RunStore } from './store.js'

/** How often a model is told what is missing before its run fails. */
export const mostReminders = 2

/** Refuses requirements that no run can meet. */
export const checkRequirements = async (
  parts: EngineParts,
  requirements: readonly CompletionRequirement[],
): Promise<void> => {
  for (const [at, { path }] of requirements.entries()) {
    const reason = await refusalOf(parts, path)
    if (reason !== undefined)
      throw runErrors.completion_requirement_invalid({
        details: { reason },
        errors: [{ path: `body.completion_requirements.${at}.path`, rule: 'must be a file inside the workspace' }],
      })
  }
}

const refusalOf = async ({ files, tools }: EngineParts, path: string | undefined): Promise<string | undefined> => {
  const look = files()
  if (look === undefined) return 'no plugin looks at files.'
  if (path === undefined) return undefined
  try {
    await look.check(tools.workspace, path)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

/** Writes down what the required files are before the run does anything. */
export const takeBaseline = async (
  execution: Execution,
  { requirements }: NonNullable<RunRecord['completion']>,
): Promise<void> => {
  const { parts } = execution
  const files: FileMark[] = []
  for (const { path } of requirements) {
    if (path === undefined) continue
    const found = await parts.files()?.look(parts.tools.workspace, path)
    files.push({ path, ...(found !== undefined && { state: found.state }) })
  }
  await change(execution, (edit) => {
    const baseline = edit.note({ type: 'baseline', files })
    edit.amend((run) => (run.completion === undefined ? run : { ...run, completion: { ...run.completion, baseline } }))
  })
}

/** What the run has not done yet, one phrase for each requirement that is not met. */
export const missingOf = async (parts: EngineParts, run: RunRecord): Promise<string[]> => {
  const written = writtenPaths(parts, run)
  const marks = baselineOf(parts.store, run)
  const missing: string[] = []
  for (const { path } of run.completion?.requirements ?? []) {
    if (!(path === undefined ? await anyFile(parts, written) : await oneFile(parts, { path, marks, written })))
      missing.push(path === undefined ? 'a file of the workspace' : `the file ${path}`)
  }
  return missing
}

const baselineOf = (store: RunStore, run: RunRecord): readonly FileMark[] => {
  const entry = entryAt(store, run.session_id, run.completion?.baseline ?? 0)
  return entry?.type === 'baseline' ? entry.files : []
}

const anyFile = async ({ files, tools }: EngineParts, written: ReadonlySet<string>): Promise<boolean> => {
  for (const path of written) if ((await files()?.look(tools.workspace, path)) !== undefined) return true
  return false
}

interface Wanted {
  readonly path: string
  readonly marks: readonly FileMark[]
  readonly written: ReadonlySet<string>
}

const oneFile = async ({ files, tools }: EngineParts, { path, marks, written }: Wanted): Promise<boolean> => {
  const now = await files()?.look(tools.workspace, path)
  if (now === undefined) return false
  return written.has(now.path) || !isDeepStrictEqual(marks.find((mark) => mark.path === path)?.state, now.state)
}

const chunk = 500

/**
 * Paths that calls of this run wrote to, as the tools themselves told: a call that found the right content there wrote
 * it as well.
 */
const writtenPaths = ({ store, tools }: EngineParts, run: RunRecord): ReadonlySet<string> => {
  const paths = new Set<string>()
  for (let after = run.first - 1; after < run.last; after += chunk) {
    for (const { entry } of store.journal.read(run.session_id, { after, limit: Math.min(chunk, run.last - after) })) {
      const path = entry.run_id === run.run_id ? pathIn(entry) : undefined
      if (path !== undefined && writes(tools, entry)) paths.add(path)
    }
  }
  return paths
}

const pathIn = (entry: JournalEntry): string | undefined => {
  if (entry.type !== 'outcome' || entry.state !== 'done') return undefined
  const { output } = entry
  const path = typeof output === 'object' && output !== null && !Array.isArray(output) ? output['path'] : undefined
  return typeof path === 'string' ? path : undefined
}

const writes = (tools: EngineParts['tools'], entry: JournalEntry): boolean => {
  const tool = entry.type === 'outcome' ? tools.find(entry.tool_name) : undefined
  return tool !== undefined && tool.effect !== 'read' && tool.sandbox === 'workspace_write'
}
