/** `POST /v1/retention`: what would fall, or the fall. */
import { defineRoute, jsonReply, type Route } from '../http/routes/route.js'
import { array, boolean, defaulted, doc, named, object, optional, string, type Infer } from '../base/schema.js'
import { codeOf, errors as stateErrors } from '../state/errors.js'
import type { Due } from './due.js'
import { Problem } from '../base/errors.js'
import { errors as configErrors } from '../base/config.js'
import { errors } from './archive/errors.js'
import type { Policy } from './policy.js'
import type { Failed } from './falls.js'
import type { Retention } from './retention.js'
import { Fallen } from './retention-document.js'
import { messageOf } from '../base/text/thrown.js'
import { sayBehindFall, sayFalling } from './words.js'

const Body = object({
  dry_run: doc(defaulted(boolean(), true), 'Only say what would fall.'),
  root_id: optional(doc(string({ min: 1, max: 64 }), 'Refuses unless the daemon holds the state root with this id.')),
})

const { at_ms: _, archive, ...facts } = Fallen.schema
const Part = named('RetentionPart', object({ ...facts, archive, words: doc(string(), 'The same in words.') }))
export const RetentionRun = named(
  'RetentionRun',
  object({
    dry_run: boolean(),
    parts: doc(array(Part), 'What fell, or would: of each kind one part.'),
    failed: doc(
      array(object({ kind: string(), code: doc(string(), 'Of the problem.'), words: string() })),
      'Kinds of which nothing fell though it was to fall, and why; what stands in `parts` fell nevertheless.',
    ),
    stays: doc(array(string()), 'What is due and stays, and why, one sentence each.'),
    warnings: doc(optional(array(string())), 'What is wrong with the configuration, one sentence each.'),
  }),
)
export type RetentionRun = Infer<typeof RetentionRun>

export const partOf = ({ kind, cause, from, to, records, bytes, beside }: Due): Infer<typeof Part> => ({
  kind,
  cause,
  from,
  to,
  records,
  bytes,
  ...(beside > 0 && { behind_bytes: beside }),
  words: sayFalling({ kind, cause, from, to, records, bytes, beside }),
})
/** As is said when it has fallen. */
const staysBehind = ({ kind, held }: Due): string[] => (held === undefined ? [] : [sayBehindFall(kind, held)])
const fallenPart = ({ at_ms: __, ...fallen }: Fallen): Infer<typeof Part> => ({
  ...fallen,
  words: sayFalling({ ...fallen, beside: fallen.behind_bytes }),
})

/** What is wrong, and what to do about it, as one sentence each. */
const sayWarnings = (retention: Retention, policy: Policy): Pick<RetentionRun, 'warnings'> => {
  const found = retention.faults(policy)
  return found.length === 0 ? {} : { warnings: found.map(({ message, action = '' }) => `${message} ${action}`.trim()) }
}

export interface RunTerms {
  readonly dry_run: boolean
  /** What the configuration says now. */
  readonly policy: Policy
}

/** Kinds that were to fall and had not when the work was interrupted; absent where it was not. */
export type Left = { readonly left?: readonly string[] }

/** What a command or a route answers with. */
export const runRetention = async (
  retention: Retention,
  { dry_run, policy }: RunTerms,
): Promise<RetentionRun & Left> => {
  if (dry_run) {
    const { falls, stays } = await retention.due(policy)
    return {
      dry_run,
      parts: falls.map(partOf),
      failed: [],
      stays: [...falls.flatMap(staysBehind), ...stays.map(({ sentence }) => sentence)],
      ...sayWarnings(retention, policy),
    }
  }
  const { fallen, failed, left, stays } = await retention.run(policy)
  if (failed.length > 0 && fallen.length + left.length === 0) throw asOne(failed)
  return {
    dry_run,
    parts: fallen.map(fallenPart),
    failed: failed.map(failure),
    stays: stays.map(({ sentence }) => sentence),
    ...sayWarnings(retention, policy),
    ...(left.length > 0 && { left }),
  }
}

/** Nothing fell: the first problem, with the kinds of the others. */
const asOne = ([first, ...others]: readonly Failed[]): unknown => {
  const error = first?.error
  if (others.length === 0 || !(error instanceof Problem)) return error
  const { code, spec, occurrence } = error
  const details = { ...occurrence.details, others: others.map(briefly).join(', ') }
  const detail = `${spec.detail} Nor did anything fall of {others}.`
  return new Problem(code, { ...spec, detail }, { ...occurrence, details })
}
const briefly = ({ kind, error }: Failed): string => {
  const reason = error instanceof Problem ? error.occurrence.details?.['reason'] : undefined
  return `${kind} (${reason ?? codeOf(error) ?? 'internal_error'})`
}

const failure = ({ kind, error }: Failed): RetentionRun['failed'][number] => ({
  kind,
  code: codeOf(error) ?? 'internal_error',
  words: messageOf(error),
})

export interface RetentionRouteParts {
  readonly rootId: string
  readonly retention: () => Retention
  /** What the configuration says now; throws `config_invalid`. */
  readonly policy: () => Policy
}

const policyNow = (read: () => Policy): Policy => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== configErrors.config_invalid.code) throw error
    throw stateErrors.retention_config_invalid({ details: { fault: error.message }, cause: error })
  }
}

export const retentionRoute = ({ rootId, retention, policy }: RetentionRouteParts): Route =>
  defineRoute({
    id: 'retention.run',
    method: 'POST',
    path: '/v1/retention',
    access: 'admin',
    durability: 'A',
    summary:
      'Says what is older, more or larger than config/retention.toml keeps now; with `dry_run` false it falls. The ' +
      'daemon by itself goes by what the file said at its start.',
    body: Body,
    reply: jsonReply(RetentionRun),
    problems: [
      stateErrors.backup_root_differs,
      stateErrors.fall_outdated,
      errors.archive_not_written,
      stateErrors.retention_config_invalid,
    ],
    example: { body: { dry_run: true } },
    handler: ({ body: { dry_run, root_id } }) => {
      if (root_id !== undefined && root_id !== rootId)
        throw stateErrors.backup_root_differs({ details: { held: rootId, wanted: root_id } })
      return runRetention(retention(), { dry_run, policy: policyNow(policy) })
    },
  })
