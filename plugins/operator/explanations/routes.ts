/** Explanations over HTTP (explanations-1). */
import {
  array,
  defineRoute,
  doc,
  enums,
  integer,
  jsonReply,
  literal,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Route,
} from '../../../core/plugin.js'
import { subjectKinds, type Reason } from './contract.js'
import { explanationErrors } from './errors.js'
import { explain, isExpired, type Explained, type ExplainParts } from './explain.js'

const ReasonView = named(
  'ExplainedReason',
  object({
    code: doc(string(), 'A stable code, such as `approval`.'),
    text: doc(string(), 'One sentence for people.'),
    since_ms: optional(timestamp()),
    until_ms: optional(doc(timestamp(), 'When it is over by itself.')),
    commands: optional(doc(array(string()), 'Command lines that would move it, the likeliest first.')),
    leads_to: optional(doc(array(string()), 'Ids of the subjects that it waits for.')),
  }),
)

const SubjectView = named(
  'ExplainedSubject',
  object({
    depth: doc(integer({ min: 0 }), 'Steps below the subject that was asked about.'),
    kind: enums(subjectKinds),
    id: string(),
    session_id: optional(doc(string(), 'Absent where it belongs to none.')),
    status: doc(string(), 'As its own view shows it.'),
    text: doc(string(), 'How it stands, in one sentence.'),
    since_ms: optional(timestamp()),
    reasons: doc(array(ReasonView), 'Why it does not go on by itself; empty where nothing holds it.'),
  }),
)
type SubjectView = Infer<typeof SubjectView>

const ExplanationView = named(
  'Explanation',
  object({
    subjects: doc(array(SubjectView), 'The one that was asked about, then each behind the one that waits for it.'),
    truncated: optional(doc(literal(true), 'Present if more is waited for than is shown.')),
  }),
)

const shownReason = ({ commands = [], leads_to = [], ...reason }: Reason): SubjectView['reasons'][number] => ({
  ...reason,
  ...(commands.length > 0 && { commands: [...commands] }),
  ...(leads_to.length > 0 && { leads_to: [...leads_to] }),
})

const shown = ({ reasons, session_id, ...subject }: Explained): SubjectView => ({
  ...subject,
  ...(session_id !== undefined && { session_id }),
  reasons: reasons.map(shownReason),
})

export const explanationRoutes = (parts: ExplainParts): readonly Route[] => [
  defineRoute({
    id: 'explanations.get',
    method: 'GET',
    path: '/v1/explanations/:id',
    summary: 'Why a run, an agent, a flow, a channel, a project, a task of one or a candidate is where it is.',
    access: 'read',
    params: object({ id: string({ min: 1, max: 400 }) }),
    reply: jsonReply(ExplanationView),
    problems: [explanationErrors.nothing_to_explain, explanationErrors.explained_expired],
    handler: async ({ params: { id } }) => {
      const found = await explain(parts, id)
      const { explained_expired, nothing_to_explain } = explanationErrors
      if (found === undefined)
        throw (isExpired(parts, id) ? explained_expired : nothing_to_explain)({ details: { id } })
      return { subjects: found.subjects.map(shown), ...(found.is_cut && { truncated: true as const }) }
    },
  }),
]
