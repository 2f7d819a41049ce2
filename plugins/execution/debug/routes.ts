import {
  array,
  boolean,
  defaulted,
  defineRoute,
  doc,
  integer,
  jsonReply,
  named,
  object,
  openText,
  optional,
  Problem,
  string,
  textReply,
  timestamp,
  type Route,
} from '../../../core/plugin.js'
import { noRun, type Runs } from '../runs/contract.js'
import type { Capture } from './capture.js'
import { RunDebugView, type DebugArtifactView, type DebugEvidence } from './contract.js'
import { debugErrors } from './errors.js'
import type { KeySetup } from './key.js'
import type { Retention } from './retention.js'
import { refOf, type DebugRecord, type DebugStore } from './store.js'

export interface DebugRouteParts {
  readonly store: DebugStore
  readonly runs: Runs
  readonly capture: Capture
  readonly retention: Retention
  readonly key: () => KeySetup
}

const run_id = string({ min: 1, max: 200 })

export const debugRoutes = (parts: DebugRouteParts): readonly Route[] => [view(parts), artifact(parts), prune(parts)]

/** What is kept of a run, once everything that was seen is written. */
const recordOf = async ({ store, runs, capture }: DebugRouteParts, id: string): Promise<DebugRecord> => {
  const run = runs.get(id)
  await capture.settled()
  const record = store.runs.find(run.run_id)
  if (record === undefined) throw debugErrors.run_debug_not_found({ details: { run_id: id } })
  return record
}

const view = (parts: DebugRouteParts): Route =>
  defineRoute({
    id: 'runs.debug',
    method: 'GET',
    path: '/v1/runs/:run_id/debug',
    summary: 'Lists the evidence that is kept of a run: one artifact for each model attempt and tool call.',
    access: 'admin',
    params: object({ run_id }),
    reply: jsonReply(RunDebugView),
    problems: [...noRun, debugErrors.run_debug_not_found],
    handler: async ({ params }) => {
      const { level, artifacts, dropped } = await recordOf(parts, params.run_id)
      return { run_id: params.run_id, level, artifacts: [...artifacts], dropped_artifact_count: dropped }
    },
  })

const artifact = (parts: DebugRouteParts): Route =>
  defineRoute({
    id: 'runs.debug_artifact',
    method: 'GET',
    path: '/v1/runs/:run_id/debug/artifacts/:artifact_id',
    summary: 'Reads one artifact as plain text.',
    access: 'admin',
    params: object({ run_id, artifact_id: string({ min: 1, max: 200 }) }),
    reply: textReply(),
    problems: [
      ...noRun,
      debugErrors.run_debug_not_found,
      debugErrors.run_debug_artifact_not_found,
      debugErrors.run_debug_artifact_unreadable,
    ],
    handler: async ({ params }) => {
      const { artifacts } = await recordOf(parts, params.run_id)
      const found = artifacts.find(({ artifact_id }) => artifact_id === params.artifact_id)
      if (found === undefined) throw debugErrors.run_debug_artifact_not_found({ details: params })
      const text = await textOf(parts, found, params.run_id)
      if (typeof text !== 'string')
        throw debugErrors.run_debug_artifact_unreadable({ details: { ...params, reason: text.reason } })
      return text
    },
  })

/** What other plugins read of it. */
export const evidenceOf = (parts: DebugRouteParts): DebugEvidence => ({
  async text(run_id, artifact_id) {
    await parts.capture.settled()
    const found = parts.store.runs.find(run_id)?.artifacts.find((one) => one.artifact_id === artifact_id)
    const text = found && (await textOf(parts, found, run_id))
    return typeof text === 'string' ? text : undefined
  },
})

/** The text of an artifact, or why it cannot be read. */
const textOf = async (
  { store, key }: DebugRouteParts,
  found: DebugArtifactView,
  id: string,
): Promise<string | { readonly reason: string }> => {
  const bytes = await store.blobs.read(refOf(found)).catch((error: unknown) => {
    if (error instanceof Problem) return 'damaged' as const
    throw error
  })
  if (bytes === 'damaged') return { reason: 'its bytes are damaged' }
  if (bytes === undefined) return { reason: 'its bytes are gone' }
  if (!found.encrypted) return new TextDecoder().decode(bytes)
  const setup = key()
  if (setup.type !== 'key') return { reason: 'it is encrypted and the daemon has no key' }
  const text = openText(bytes, { key: setup.key, about: `${id}/${found.artifact_id}` })
  return text === undefined ? { reason: 'it is encrypted with another key' } : new TextDecoder().decode(text)
}

const PruneRequest = named(
  'RunPruneRequest',
  object({
    older_than_ms: doc(
      integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      'Runs that ended so long ago or longer. Milliseconds.',
    ),
    session_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the session.')),
    limit: optional(doc(integer({ min: 1, max: 100_000 }), 'Most runs to prune, the oldest evidence first.')),
    dry_run: defaulted(doc(boolean(), 'Says what would be pruned, and prunes nothing.'), false),
  }),
)
const PruneReport = named(
  'RunPruneReport',
  object({
    dry_run: boolean(),
    now_ms: timestamp(),
    cutoff_ms: doc(integer(), 'Runs that ended then or before. Unix ms.'),
    limit: optional(integer()),
    matched_run_count: doc(integer(), 'Ended runs with evidence that are old enough, whatever the limit.'),
    candidate_run_ids: array(string()),
    candidate_debug_bytes: integer(),
    pruned_debug_run_ids: array(string()),
    pruned_debug_bytes: integer(),
  }),
)

const prune = ({ capture, retention }: DebugRouteParts): Route =>
  defineRoute({
    id: 'runs.prune',
    method: 'POST',
    path: '/v1/runs/prune',
    summary: 'Removes the debug evidence of runs that ended long ago; the runs stay.',
    access: 'admin',
    body: PruneRequest,
    invalidBody: debugErrors.run_retention_invalid_request,
    reply: jsonReply(PruneReport),
    problems: [debugErrors.run_retention_invalid_request],
    durability: 'A',
    example: { body: { older_than_ms: 86_400_000, dry_run: true } },
    handler: async ({ body }) => {
      await capture.settled()
      return retention.prune(body)
    },
  })
