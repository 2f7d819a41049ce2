/** Why something is where it is, and what would move it. Rules: docs/rules/explanations.md. */
import {
  answerOf,
  array,
  awaited,
  definePoint,
  hasMembers,
  literal,
  open,
  optional,
  string,
  tagged,
  timestamp,
  withAnswers,
  yesOrNo,
  type Point,
} from '../../../core/plugin.js'

/** Reasons on the terminal. */
export { reasonLines, ShownReason } from './reason-text.js'

/** What may be asked about. */
export const subjectKinds = ['run', 'agent', 'flow', 'channel', 'project', 'task', 'candidate'] as const
/** One of `subjectKinds`. */
export type SubjectKind = (typeof subjectKinds)[number]

interface Asked {
  readonly id: string
  /** As its own view shows it. */
  readonly status: string
  /** How it stands, in one sentence. */
  readonly text: string
  /** Unix ms at which it came to stand so. */
  readonly since_ms?: number
  /** Ids of what it is made of that has not ended: what they wait for, it waits for. */
  readonly parts?: readonly string[]
}
interface OfSession extends Asked {
  readonly kind: 'run' | 'agent' | 'flow'
  readonly session_id: string
}
interface Shared extends Asked {
  readonly kind: 'channel' | 'project' | 'task' | 'candidate'
  /** The session that does it, if there is one. */
  readonly session_id?: string | undefined
}
/** Something that is asked about, as it is now. */
export type Subject = OfSession | Shared

const asked = {
  id: string(),
  status: string(),
  text: string(),
  since_ms: optional(timestamp()),
  parts: optional(array(string())),
}
const ofSession = <K extends OfSession['kind']>(kind: K) =>
  open({ ...asked, kind: literal(kind), session_id: string() })
const shared = <K extends Shared['kind']>(kind: K) =>
  open({ ...asked, kind: literal(kind), session_id: optional(string()) })
const TakenSubject = tagged('kind', {
  run: ofSession('run'),
  agent: ofSession('agent'),
  flow: ofSession('flow'),
  channel: shared('channel'),
  project: shared('project'),
  task: shared('task'),
  candidate: shared('candidate'),
})

/** Finds subjects by id. */
export interface SubjectSource {
  readonly id: string
  /** Undefined for what is none of its own. Must not throw. */
  find(id: string): Subject | undefined | Promise<Subject | undefined>
  /** Whether what has this id may have been here and is not kept any more. Must not throw. */
  hasFallen?(id: string): boolean
}
/** Everyone who has something that may be asked about. */
export const Subjects: Point<SubjectSource> = withAnswers(
  definePoint<SubjectSource>(
    'subjects@1',
    ({ id }) => id,
    hasMembers('a source of subjects', { id: 'id', find: 'function' }),
  ),
  { find: awaited(answerOf(TakenSubject, undefined)), hasFallen: yesOrNo(false) },
)

/** One thing that a subject waits for, or why it does not go on. */
export interface Reason {
  /** A stable code, such as `approval`. */
  readonly code: string
  /** One sentence for people. */
  readonly text: string
  /** Unix ms. */
  readonly since_ms?: number
  /** When it is over by itself, Unix ms. */
  readonly until_ms?: number
  /** Command lines that would move it, the likeliest first. */
  readonly commands?: readonly string[]
  /** Ids of subjects that it waits for. */
  readonly leads_to?: readonly string[]
}

const TakenReason = open({
  code: string(),
  text: string(),
  since_ms: optional(timestamp()),
  until_ms: optional(timestamp()),
  commands: optional(array(string())),
  leads_to: optional(array(string())),
})

/** Knows why subjects do not go on. */
export interface ReasonSource {
  readonly id: string
  /** Empty where it knows nothing. Must not throw. */
  of(subject: Subject): readonly Reason[] | Promise<readonly Reason[]>
}
/** Everyone who knows what subjects wait for. */
export const Reasons: Point<ReasonSource> = withAnswers(
  definePoint<ReasonSource>(
    'reasons@1',
    ({ id }) => id,
    hasMembers('a source of reasons', { id: 'id', of: 'function' }),
  ),
  { of: awaited(answerOf(array(TakenReason), [])) },
)
