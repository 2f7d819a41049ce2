/**
 * What must hold before a run completes. Judged by checks, before and after,
 * and by the outcomes of the run's own calls, never by what the model says.
 */
import { isJsonObject } from '../../../core/plugin.js'
import type { CompletionMark, JournalEntry } from '../sessions/contract.js'
import {
  checkOf,
  type CompletionRequirement,
  type RunRecord,
  entryAt,
  ownEntries,
  type RunStore,
} from '../runs/contract.js'
import { change, workspaceOf, type EngineContext, type Execution } from './execution.js'

/** How often a model is told what is missing before its run fails. */
export const mostReminders = 2

/** Writes down how things are before the run does anything. */
export const takeBaseline = async (
  execution: Execution,
  { requirements }: NonNullable<RunRecord['completion']>,
): Promise<void> => {
  const files: CompletionMark[] = []
  for (const requirement of requirements) {
    const mark = await checkOf(execution.context.checks, requirement)?.mark(requirement, workspaceOf(execution.folder))
    if (mark !== undefined) files.push(mark)
  }
  await change(execution, (edit) => {
    const baseline = edit.note({ type: 'baseline', files })
    edit.amend((run) => (run.completion === undefined ? run : { ...run, completion: { ...run.completion, baseline } }))
  })
}

/** What the run has not done yet, one phrase for each requirement that is not met. */
export const missingOf = async ({ context, folder }: Execution, run: RunRecord): Promise<string[]> => {
  const written = writtenPaths(context, run)
  const marks = baselineOf(context.store, run)
  const missing: string[] = []
  for (const requirement of run.completion?.requirements ?? []) {
    const mark = marks.find(({ path }) => path === requirement.path)
    const isMet = await checkOf(context.checks, requirement)?.isMet(requirement, {
      mark,
      written,
      at: workspaceOf(folder),
    })
    if (isMet !== true) missing.push(phraseOf(requirement))
  }
  return missing
}

const phraseOf = ({ path }: CompletionRequirement): string =>
  path === undefined ? 'a file of the workspace' : `the file ${path}`

const baselineOf = (store: RunStore, run: RunRecord): readonly CompletionMark[] => {
  const entry = entryAt(store, run.session_id, run.completion?.baseline ?? 0)
  return entry?.type === 'baseline' ? entry.files : []
}

/**
 * Paths that calls of this run wrote to, as the tools themselves told: a call that found the right content there wrote
 * it as well.
 */
const writtenPaths = ({ store, tools }: EngineContext, run: RunRecord): ReadonlySet<string> => {
  const paths = new Set<string>()
  for (const { entry } of ownEntries(store, run)) {
    if (writes(tools, entry)) for (const path of pathsIn(entry)) paths.add(path)
  }
  return paths
}

/** A tool names one file as its `path`, or several as those of its `files`. */
const pathsIn = (entry: JournalEntry): string[] => {
  if (entry.type !== 'outcome' || entry.state !== 'done' || !isJsonObject(entry.output)) return []
  const { files } = entry.output
  return [entry.output, ...(Array.isArray(files) ? files : [])].flatMap((file) => {
    const path = isJsonObject(file) ? file['path'] : undefined
    return typeof path === 'string' ? [path] : []
  })
}

const writes = (tools: EngineContext['tools'], entry: JournalEntry): boolean => {
  const tool = entry.type === 'outcome' ? tools.find(entry.tool_name) : undefined
  return tool !== undefined && tool.effect !== 'read' && tool.sandbox === 'workspace_write'
}
