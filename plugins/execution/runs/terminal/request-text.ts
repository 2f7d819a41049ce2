/**
 * What a run asks a person for as text for terminals, with the command lines that answer it. Approvals and questions
 * show the same.
 */
import {
  array,
  beginningOf,
  boolean,
  commandLine,
  count,
  enums,
  idWord,
  json,
  nullable,
  number,
  open,
  optional,
  string,
  visibleBlock,
  visibleLine,
  type Infer,
} from '../../../../core/plugin.js'
import { grantRuleKinds, grantText } from '../../tools/contract.js'
import { inputLines } from './input-text.js'

const asked = { id: string(), created_at_ms: optional(number()), expires_at_ms: optional(number()) }
/** A tool call that waits for permission, as far as it is shown. */
export const AskedApproval = open({
  ...asked,
  tool_name: string(),
  input: json(),
  input_digest: optional(string()),
  reason: optional(nullable(string())),
  cwd: optional(string()),
  grant_rule: optional(open({ kind: enums(grantRuleKinds), value: string() })),
})
/** Questions that wait for an answer, as far as they are shown. */
export const AskedQuestions = open({
  ...asked,
  questions: array(
    open({
      id: string(),
      header: optional(string()),
      question: string(),
      options: array(
        open({ id: string(), label: string(), description: optional(string()), preview: optional(string()) }),
      ),
      multi_select: optional(boolean()),
    }),
  ),
})
export type AskedApproval = Infer<typeof AskedApproval>
export type AskedQuestions = Infer<typeof AskedQuestions>
type Asked = AskedQuestions['questions'][number]

/** Where a request stands, and which agent asks where that is one of another session. */
export const askedWhere = {
  session_id: string(),
  run_id: string(),
  requester_agent_id: optional(string()),
  requester_session_id: optional(string()),
}
const AskedWhere = open(askedWhere)

export const askedFrom = ({
  session_id,
  run_id,
  requester_agent_id: agent,
  requester_session_id: own,
}: Infer<typeof AskedWhere>): string[] => [
  `session ${idWord(session_id)}`,
  `run ${run_id}`,
  ...(agent === undefined ? [] : [`asked by ${agent}${own === undefined ? '' : ` in session ${idWord(own)}`}`]),
]

const indent = 11
const row = (name: string, text: string): string => `  ${name.padEnd(indent - 2)}${visibleBlock(text, indent)}`

/** The lines that allow and deny one request. */
export const approvalLines = (run_id: string, request_id: string) => ({
  allow: commandLine('approvals allow', run_id, request_id),
  deny: commandLine('approvals deny', run_id, request_id),
  always: commandLine('approvals allow --always', run_id, request_id),
})

/** Options are named by number, one for each question: their labels are the words of a model. */
export const questionLines = (run_id: string, { questions }: AskedQuestions) => ({
  answer: questions.every(({ options }) => options.length > 0)
    ? commandLine(`questions answer --option ${questions.map(() => '1').join('/')}`, run_id)
    : commandLine('questions answer', run_id, questions.map(() => 'TEXT').join(' | ')),
  decline: commandLine('questions decline', run_id),
})

/** What would be done, whole: nobody decides on what was cut. */
export const showRequest = ({ tool_name, input, input_digest, reason, cwd }: AskedApproval): string[] => [
  row('asks', `to use ${visibleLine(tool_name)}${reason === undefined || reason === null ? '' : `: ${reason}`}`),
  ...(cwd === undefined ? [] : [row('in', `the folder ${visibleLine(cwd)} of the workspace`)]),
  row('input', inputLines(input).join('\n')),
  ...(input_digest === undefined ? [] : [row('digest', `sha256 ${input_digest}`)]),
]

export const showApproval = (run_id: string, request: AskedApproval): string[] => {
  const { allow, deny, always } = approvalLines(run_id, request.id)
  const { grant_rule, tool_name } = request
  return [
    ...showRequest(request),
    row('allows', `this input, once; the next call of ${visibleLine(tool_name)} asks again`),
    row('allow', visibleLine(allow)),
    ...(grant_rule === undefined
      ? []
      : [
          row('or', `in this session from now on ${grantText(tool_name, grant_rule)}`),
          row('always', visibleLine(always)),
        ]),
    row('deny', visibleLine(deny)),
  ]
}

/** Lines of what an option would look like, and signs of one of them. */
const [mostPreview, mostWidth] = [12, 200]

const previewLines = (preview: string | undefined): string[] => {
  if (preview === undefined || preview.trim() === '') return []
  const lines = preview.replace(/\s+$/u, '').split(/\r?\n/u)
  const shown = lines.slice(0, mostPreview).map((line) => `  ${beginningOf(line, mostWidth)}`)
  const leftOut = lines.length - shown.length
  return [...shown, ...(leftOut > 0 ? [`  … ${count(leftOut, 'more line')}`] : [])]
}

/** One question with its options by number, and what each would look like below it. */
export const showQuestion = ({ header = '', question, options, multi_select }: Asked): string[] => [
  row(
    'asks',
    `${header.trim() === '' ? '' : `${header.trim()}: `}${question}${multi_select === true ? ' (one or more)' : ''}`,
  ),
  ...options.map(({ label, description, preview }, at) => {
    const said = description === undefined ? label : `${label}: ${description}`
    return row(String(at + 1), [said, ...previewLines(preview)].join('\n'))
  }),
]

export const showQuestions = (run_id: string, request: AskedQuestions): string[] => {
  const { questions } = request
  const { answer, decline } = questionLines(run_id, request)
  return [
    ...questions.flatMap(showQuestion),
    row('answer', visibleLine(answer)),
    row('or', visibleLine(commandLine('questions answer', run_id, questions.map(() => 'TEXT').join(' | ')))),
    row('decline', visibleLine(decline)),
  ]
}
