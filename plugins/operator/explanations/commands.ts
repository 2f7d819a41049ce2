/** Explanations from the command line. */
import {
  array,
  defineCommand,
  integer,
  literal,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Command,
  type Infer,
} from '../../../core/plugin.js'

const Reason = open({
  text: string(),
  since_ms: optional(integer()),
  until_ms: optional(integer()),
  commands: optional(array(string())),
})
const Subject = open({
  depth: integer(),
  kind: string(),
  id: string(),
  session_id: string(),
  status: string(),
  text: string(),
  since_ms: optional(integer()),
  reasons: array(Reason),
})
const Explanation = open({ subjects: array(Subject), truncated: optional(literal(true)) })

const times = ({ since_ms, until_ms }: Pick<Infer<typeof Reason>, 'since_ms' | 'until_ms'>): string =>
  [
    ...(since_ms === undefined ? [] : [`since ${showTime(since_ms)}`]),
    ...(until_ms === undefined ? [] : [`until ${showTime(until_ms)}`]),
  ].join(', ')

const told = (text: string, moments: Pick<Infer<typeof Reason>, 'since_ms' | 'until_ms'>): string => {
  const when = times(moments)
  return `${visibleLine(text)}${when === '' ? '' : ` (${when})`}`
}

const showReason = (reason: Infer<typeof Reason>): string[] => [
  `  - ${told(reason.text, reason)}`,
  ...(reason.commands ?? []).map((line) => `      ${visibleLine(line)}`),
]

const showSubject = (subject: Infer<typeof Subject>): string => {
  const { depth, kind, id, session_id, status, text, reasons } = subject
  return [
    `${kind} ${visibleLine(id)}  ${status}  ${visibleLine(session_id)}`,
    `  ${told(text, subject)}`,
    ...reasons.flatMap(showReason),
  ]
    .map((line) => `${'  '.repeat(depth)}${line}`)
    .join('\n')
}

const show = ({ subjects, truncated }: Infer<typeof Explanation>): string =>
  [...subjects.map(showSubject), ...(truncated === true ? ['More is waited for than is shown.'] : [])].join('\n')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['explain'],
    route: 'GET /v1/explanations/{id}',
    summary: 'Why a run, an agent, a session or a flow is where it is, and what would move it.',
    args: ['id'],
    run: ({ client, args }) => client.get(`/v1/explanations/${encodeURIComponent(args['id'] ?? '')}`),
    answer: Explanation,
    show,
  }),
]
