/** Explanations from the command line. */
import {
  array,
  defineCommand,
  integer,
  literal,
  open,
  optional,
  string,
  type Command,
  type Infer,
  idWord,
  visibleLine,
} from '../../../core/plugin.js'
import { reasonLines, ShownReason, timedText } from './reason-text.js'

const Subject = open({
  depth: integer(),
  kind: string(),
  id: string(),
  session_id: optional(string()),
  status: string(),
  text: string(),
  since_ms: optional(integer()),
  reasons: array(ShownReason),
})
const Explanation = open({ subjects: array(Subject), truncated: optional(literal(true)) })

const showSubject = (subject: Infer<typeof Subject>): string => {
  const { depth, kind, id, session_id, status, text, reasons } = subject
  return [
    [
      `${visibleLine(kind)} ${idWord(id)}`,
      visibleLine(status),
      ...(session_id === undefined ? [] : [idWord(session_id)]),
    ].join('  '),
    `  ${timedText(text, subject)}`,
    ...reasons.flatMap((reason) => reasonLines(reason)).map((line) => `  ${line}`),
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
    summary:
      'Why a run, agent, session, flow, channel, project, task or candidate is where it is, and what would move it. ' +
      'A task is named PROJECT:TASK; project:ID and channel:ID name those where a session has the same id.',
    args: ['id'],
    run: ({ client, args }) => client.get(`/v1/explanations/${encodeURIComponent(args['id'] ?? '')}`),
    answer: Explanation,
    show,
  }),
]
