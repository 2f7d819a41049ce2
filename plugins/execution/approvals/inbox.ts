/** Everything that waits for a person, in all sessions, with the commands that answer it. */
import {
  array,
  json,
  open,
  optional,
  parse,
  span,
  string,
  type Client,
  type CommandInput,
  type Infer,
  type Json,
  type StructOf,
} from '../../../core/plugin.js'
import {
  approvalLines,
  AskedApproval,
  askedFrom,
  AskedQuestions,
  askedWhere,
  questionLines,
  showApproval,
  showQuestions,
} from '../runs/contract.js'

const Approval = open({ ...askedWhere, request: AskedApproval })
const Question = open({ ...askedWhere, request: AskedQuestions })
type Waiting = Infer<typeof Approval> | Infer<typeof Question>

const Envelope = open({ items: array(json()), pagination: open({ next_cursor: optional(string()) }) })

/** All items of a paged list, page by page. */
const everyItem = async <T>(client: Client, path: string, item: StructOf<T>): Promise<T[]> => {
  const found: T[] = []
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const page: Page<T> = await onePage(
      client,
      `${path}${path.includes('?') ? '&' : '?'}page=true&limit=100&cursor=${cursor}`,
      item,
    )
    found.push(...page.items)
    cursor = page.next
  }
  return found
}

interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | undefined
}

const onePage = async <T>(client: Client, path: string, item: StructOf<T>): Promise<Page<T>> => {
  const page = parse(Envelope, await client.get(path))
  if (!page.ok) return { items: [], next: undefined }
  const items = page.value.items.flatMap((value) => {
    const parsed = parse(item, value)
    return parsed.ok ? [parsed.value] : []
  })
  return { items, next: page.value.pagination.next_cursor }
}

interface RowOf<Type extends string> {
  readonly type: Type
  readonly session_id: string
  readonly run_id: string
  readonly request_id: string
  readonly tool_name: string
  readonly input: Json
  readonly created_at_ms?: number | undefined
  readonly age_ms?: number
  readonly expires_at_ms?: number | undefined
  readonly expires_in_ms?: number
  readonly commands: readonly string[]
}
interface ApprovalRow extends RowOf<'approval'> {
  readonly input_digest?: string | undefined
  readonly reason?: string | null | undefined
  readonly grant_rule?: AskedApproval['grant_rule']
  readonly cwd?: string
}
interface QuestionRow extends RowOf<'question'> {
  readonly questions: AskedQuestions['questions']
  readonly requester_agent_id?: string
  readonly requester_session_id?: string
}
type Row = ApprovalRow | QuestionRow

const facts = ({ session_id, run_id, request: { id, created_at_ms, expires_at_ms } }: Waiting, now: number) => ({
  session_id,
  run_id,
  request_id: id,
  ...(created_at_ms !== undefined && { created_at_ms, age_ms: Math.max(0, now - created_at_ms) }),
  ...(expires_at_ms !== undefined && { expires_at_ms, expires_in_ms: Math.max(0, expires_at_ms - now) }),
})

const approvalRow = (item: Infer<typeof Approval>, now: number): ApprovalRow => {
  const { tool_name, input, input_digest, reason, grant_rule, cwd } = item.request
  const { allow, deny, always } = approvalLines(item.run_id, item.request.id)
  return {
    type: 'approval',
    ...facts(item, now),
    tool_name,
    input,
    input_digest,
    reason,
    ...(cwd !== undefined && { cwd }),
    ...(grant_rule !== undefined && { grant_rule }),
    commands: [allow, deny, ...(grant_rule === undefined ? [] : [always])],
  }
}

const questionRow = (item: Infer<typeof Question>, now: number): QuestionRow => {
  const { requester_agent_id: agent, requester_session_id: own } = item
  const { questions } = item.request
  const { answer, decline } = questionLines(item.run_id, item.request)
  return {
    type: 'question',
    ...facts(item, now),
    tool_name: 'ask_user_question',
    input: questions.map(({ question, options }) => ({ question, options: options.map(({ label }) => label) })),
    questions,
    ...(agent !== undefined && { requester_agent_id: agent }),
    ...(own !== undefined && { requester_session_id: own }),
    commands: [answer, decline],
  }
}

/** One row for each open request; those that wait longest come first. */
export const readInbox = async ({ client, flags, now }: CommandInput): Promise<Row[]> => {
  const session = flags['session-id']
  const query = typeof session === 'string' ? `?session_id=${encodeURIComponent(session)}` : ''
  const [approvals, questions] = await Promise.all([
    everyItem(client, `/v1/approvals${query}`, Approval),
    everyItem(client, `/v1/questions${query}`, Question),
  ])
  const at = now()
  return [
    ...approvals.map((item): Row => approvalRow(item, at)),
    ...questions.map((item): Row => questionRow(item, at)),
  ].toSorted((a, b) => (a.created_at_ms ?? 0) - (b.created_at_ms ?? 0))
}

const showRow = (row: Row): string => {
  const { run_id, request_id: id, age_ms, expires_in_ms } = row
  const head = [
    `${row.type} ${id}`,
    ...askedFrom(row),
    ...(age_ms === undefined ? [] : [`waits for ${span(age_ms)}`]),
    ...(expires_in_ms === undefined ? [] : [`expires in ${span(expires_in_ms)}`]),
  ].join(', ')
  const request = row.type === 'approval' ? showApproval(run_id, { ...row, id }) : showQuestions(run_id, { ...row, id })
  return [head, ...request].join('\n')
}

export const showInbox = (rows: Row[]): string =>
  rows.length === 0 ? 'Nothing waits for approval or an answer.' : rows.map(showRow).join('\n\n')
