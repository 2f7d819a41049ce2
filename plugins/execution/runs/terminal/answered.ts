/** Who asked in a run that is a question of an agent, and how it was answered: the events of the run have it. */
import {
  array,
  boolean,
  json,
  open,
  optional,
  parse,
  string,
  visibleBlock,
  visibleLine,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'

const Asked = open({
  requests: array(
    open({ questions: array(open({ id: string(), options: array(open({ id: string(), label: string() })) })) }),
  ),
})
const Resolved = open({
  requester_agent_id: string(),
  resolution: open({
    answers: array(
      open({ question_id: string(), selected_option_ids: array(string()), freeform_answer: optional(string()) }),
    ),
    declined: boolean(),
    justification: optional(string()),
    decided_by: string(),
  }),
})
type Resolution = Infer<typeof Resolved>['resolution']

export const ShownAnswer = open({ asked_by: string(), text: string() })

const ended = new Map([
  ['cancel', 'taken back'],
  ['timeout', 'answered by nobody in time'],
])

const answerText = (asked: Infer<typeof Asked> | undefined, resolution: Resolution): string => {
  const { answers, declined, justification, decided_by } = resolution
  const why = justification === undefined ? '' : `: ${justification}`
  if (declined) return `${ended.get(decided_by) ?? `declined by ${decided_by}`}${why}`
  const questions = asked?.requests.flatMap((request) => request.questions) ?? []
  const said = answers.map(({ question_id, selected_option_ids, freeform_answer }) => {
    const options = questions.find(({ id }) => id === question_id)?.options ?? []
    const labels = options.filter(({ id }) => selected_option_ids.includes(id)).map(({ label }) => label)
    return [...labels, ...(freeform_answer === undefined ? [] : [freeform_answer])].join(', ')
  })
  return `${said.join(' | ')} (by ${decided_by})`
}

/** Undefined while nobody has answered, and for all other runs. */
export const answerIn = (events: Json): Infer<typeof ShownAnswer> | undefined => {
  const entries = parse(array(open({ event: json() })), events)
  if (!entries.ok) return undefined
  const each = entries.value.map(({ event }) => event)
  const resolved = each.map((event) => parse(Resolved, event)).find(({ ok }) => ok)
  const asked = each.map((event) => parse(Asked, event)).find(({ ok }) => ok)
  if (resolved?.ok !== true) return undefined
  const { requester_agent_id, resolution } = resolved.value
  return { asked_by: requester_agent_id, text: answerText(asked?.ok === true ? asked.value : undefined, resolution) }
}

export const answerLines = ({ asked_by, text }: Infer<typeof ShownAnswer>): string[] => [
  `  asked    by ${visibleLine(asked_by)}`,
  `  answer   ${visibleBlock(text, 11)}`,
]
