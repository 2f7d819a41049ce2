/** What callers may send of projects. Texts are trimmed where they are kept. */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  jsonObject,
  object,
  optional,
  rule,
  string,
  unsafeCast,
  type Infer,
  type JsonObject,
} from '../../../../core/plugin.js'
import { isSessionId } from '../../../execution/sessions/contract.js'
import { projectErrors } from './errors.js'
import { projectMemberKinds, projectStatuses, projectTaskStatuses } from './record.js'

/** Bytes of one request: texts and metadata of one record. */
export const bodyLimit = 256 * 1024
/** Bytes of one request that makes a project with its members. */
export const createLimit = 4 * 1024 * 1024
const mostMetadata = 65_536
/** What comes of a task is cut to so many bytes where it is made of a run. */
export const mostOutput = 65_536
/** Tasks that one task may be blocked by. */
export const mostBlockers = 100

const line = '^[^\\p{Cc}]*$'
const name = '^[^\\p{Cc}]*[^\\s\\p{Cc}][^\\p{Cc}]*$'
const named = 'must not be blank, and must hold no control characters'

/** An id that a caller chooses. */
export const ChosenId = rule(
  string({ min: 1, max: 200 }),
  'must not be blank, "." or "..", and must hold no slash, backslash or control character',
  isSessionId,
)
/** What is mirrored is named by the project and the member with a colon between, so the first has none. */
const ProjectId = rule(
  string({ max: 200 }),
  'must not be "." or "..", and must hold no colon, slash, backslash or control character',
  (id) => id.trim() === '' || (isSessionId(id) && !id.includes(':')),
)
/** An id that is looked for. */
export const AnyId = string({ min: 1, max: 400 })
/** What a caller keeps with something. */
export const MetadataObject = rule(
  jsonObject(),
  `must have at most ${mostMetadata} bytes as JSON`,
  (value) => Buffer.byteLength(JSON.stringify(value)) <= mostMetadata,
)
const Metadata = optional(MetadataObject)
const DisplayName = doc(string({ max: 200, pattern: name, told: named }), 'What people call it.')
const Role = optional(doc(string({ max: 200, pattern: line }), 'What it is there for.'))
const Description = optional(doc(string({ max: 20_000 }), 'What it is about.'))

export const MemberDraft = object({
  member_id: doc(ChosenId, 'Stable in the project.'),
  member_kind: enums(projectMemberKinds),
  display_name: DisplayName,
  session_id: optional(doc(AnyId, 'Of a session member; member_id when neither this nor agent_id is given.')),
  agent_id: optional(doc(AnyId, 'In place of session_id: the agent of the session.')),
  actor_id: optional(
    doc(string({ min: 1, max: 200, pattern: name, told: named }), 'Of a human_actor; member_id when absent.'),
  ),
  role: Role,
  expertise_tags: optional(doc(array(string({ max: 100, pattern: line }), { max: 50 }), 'What it is good at.')),
  metadata: Metadata,
})
export type MemberDraft = Infer<typeof MemberDraft>

export const LinkDraft = object({
  channel_id: AnyId,
  role: Role,
  default_for_new_tasks: defaulted(doc(boolean(), 'Kick-off messages of tasks are posted there.'), false),
  mirror_members: defaulted(doc(boolean(), 'The members of the project become members of the channel.'), false),
  metadata: Metadata,
})
export type LinkDraft = Infer<typeof LinkDraft>

export const ProjectDraft = object({
  project_id: optional(doc(ProjectId, 'Chosen by the caller, or made by the daemon.')),
  display_name: DisplayName,
  description: Description,
  status: defaulted(enums(projectStatuses), 'active'),
  members: optional(array(MemberDraft, { max: 10_000 })),
  channel_links: optional(array(LinkDraft, { max: 100 })),
  metadata: Metadata,
})
export type ProjectDraft = Infer<typeof ProjectDraft>

export const ProjectChange = object({
  display_name: optional(DisplayName),
  description: optional(doc(string({ max: 20_000 }), 'A blank one changes nothing.')),
  status: optional(enums(projectStatuses)),
  metadata: Metadata,
})
export type ProjectChange = Infer<typeof ProjectChange>

const assignee = {
  assignee_member_id: optional(AnyId),
  assignee_session_id: optional(AnyId),
  assignee_agent_id: optional(AnyId),
}
const assignment = {
  assignment: optional(doc(object(assignee), 'The member that does it, named by one of the three ids.')),
  ...assignee,
}
const discussion = {
  discussion_channel_id: optional(doc(AnyId, 'With discussion_thread_root_message_id: where it is discussed.')),
  discussion_thread_root_message_id: optional(AnyId),
}
/** What a task is called. */
export const Title = doc(string({ max: 400, pattern: name, told: named }), 'What is to be done, in a few words.')
const work = {
  description: optional(doc(string({ max: 20_000 }), 'What is to be done.')),
  blocked_by: optional(doc(array(string({ max: 400 }), { max: mostBlockers }), 'Tasks that must be completed before.')),
  latest_run_id: optional(doc(AnyId, 'A run of the assignee that has ended: status and output follow from it.')),
  output: optional(doc(string({ max: mostOutput }), 'What came of it.')),
  metadata: Metadata,
}

export const TaskDraft = object({
  project_task_id: optional(doc(ChosenId, 'Chosen by the caller, or made by the daemon.')),
  title: Title,
  status: defaulted(enums(projectTaskStatuses), 'pending'),
  ...assignment,
  ...discussion,
  ...work,
})
export type TaskDraft = Infer<typeof TaskDraft>

export const TaskChange = object({
  title: optional(Title),
  status: optional(enums(projectTaskStatuses)),
  ...assignment,
  clear_assignment: optional(boolean()),
  ...discussion,
  clear_discussion: optional(boolean()),
  ...work,
  clear_output: optional(boolean()),
})
export type TaskChange = Infer<typeof TaskChange>

/** Refuses with the field that is wrong. */
export const refuse = (field: string, reason: string): never => {
  throw projectErrors.project_invalid_request({
    details: { reason: `${field} ${reason}` },
    errors: [{ path: `body.${field}`, rule: reason }],
  })
}

/** Trimmed; nothing where it is blank. */
export const trimmed = (text: string | undefined): string | undefined => text?.trim() || undefined
/** Nothing where it is empty. */
export const filled = (metadata: JsonObject | undefined): JsonObject | undefined =>
  metadata === undefined || Object.keys(metadata).length === 0 ? undefined : metadata
/** Trimmed, without blank ones, each once. */
export const distinct = (texts: readonly string[] = []): string[] => [
  ...new Set(texts.map((text) => text.trim()).filter((text) => text !== '')),
]
/** Without members that are undefined, all of which are optional. */
export const given = <T extends object>(value: T): T =>
  unsafeCast(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)))
