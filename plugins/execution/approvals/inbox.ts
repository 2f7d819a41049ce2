/** Everything that waits for a person, in all sessions, with the commands that answer it. */
import {
  array,
  json,
  number,
  open,
  optional,
  parse,
  string,
  visibleLine,
  type Client,
  type CommandInput,
  type Infer,
  type Json,
  type JsonObject,
  type StructOf,
} from '../../../core/plugin.js'

const asked = { id: string(), created_at_ms: optional(number()), expires_at_ms: optional(number()) }
const Waiting = { session_id: string(), run_id: string() }
const Approval = open({ ...Waiting, request: open({ ...asked, tool_name: string(), input: json() }) })
const Question = open({
  ...Waiting,
  request: open({
    ...asked,
    questions: array(open({ question: string(), options: array(open({ label: string() })) })),
  }),
})

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

interface Asked {
  readonly id: string
  readonly created_at_ms?: number | undefined
  readonly expires_at_ms?: number | undefined
}

const times = ({ created_at_ms, expires_at_ms }: Asked, now: number): JsonObject => ({
  ...(created_at_ms !== undefined && { created_at_ms, age_ms: Math.max(0, now - created_at_ms) }),
  ...(expires_at_ms !== undefined && { expires_at_ms, expires_in_ms: Math.max(0, expires_at_ms - now) }),
})

const approvalRow = ({ session_id, run_id, request }: Infer<typeof Approval>, now: number): JsonObject => ({
  type: 'approval',
  session_id,
  run_id,
  request_id: request.id,
  tool_name: request.tool_name,
  input: request.input,
  ...times(request, now),
  commands: [`holdfast approvals allow ${run_id} ${request.id}`, `holdfast approvals deny ${run_id} ${request.id}`],
})

const questionRow = ({ session_id, run_id, request }: Infer<typeof Question>, now: number): JsonObject => ({
  type: 'question',
  session_id,
  run_id,
  request_id: request.id,
  tool_name: 'ask_user_question',
  input: request.questions.map(({ question, options }) => ({ question, options: options.map(({ label }) => label) })),
  ...times(request, now),
  commands: [
    `holdfast questions answer ${run_id} ` +
      `"${request.questions.map(({ options }) => options[0]?.label ?? 'TEXT').join(' | ')}"`,
    `holdfast questions decline ${run_id}`,
  ],
})

/** One row for each open request; those that wait longest come first. */
export const readInbox = async ({ client, flags, now }: CommandInput): Promise<Json> => {
  const session = flags['session-id']
  const query = typeof session === 'string' ? `?session_id=${encodeURIComponent(session)}` : ''
  const [approvals, questions] = await Promise.all([
    everyItem(client, `/v1/approvals${query}`, Approval),
    everyItem(client, `/v1/questions${query}`, Question),
  ])
  const at = now()
  const since = ({ request }: { readonly request: Asked }): number => request.created_at_ms ?? 0
  const rows = [
    ...approvals.map((item) => ({ since: since(item), row: approvalRow(item, at) })),
    ...questions.map((item) => ({ since: since(item), row: questionRow(item, at) })),
  ]
  return rows.toSorted((a, b) => a.since - b.since).map(({ row }) => row)
}

const Rows = array(
  open({
    type: string(),
    session_id: string(),
    run_id: string(),
    tool_name: string(),
    input: json(),
    age_ms: optional(number()),
    expires_in_ms: optional(number()),
    commands: array(string()),
  }),
)
type Row = Infer<typeof Rows>[number]

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]
/** A span in its largest unit. */
const span = (ms: number): string => {
  const [size, unit] = units.find(([least]) => ms >= least) ?? [1000, 's']
  return `${Math.floor(ms / size)} ${unit}`
}

const previewLength = 200
const preview = (input: Json): string => {
  const text = JSON.stringify(input)
  return text.length > previewLength ? `${text.slice(0, previewLength)}…` : text
}

const showRow = ({ type, session_id, run_id, tool_name, input, age_ms, expires_in_ms, commands }: Row): string =>
  [
    `${type.padEnd(8)}  ${visibleLine(tool_name)} ${preview(input)}`,
    `  session ${visibleLine(session_id)}, run ` +
      `${run_id}${age_ms === undefined ? '' : `, waits for ${span(age_ms)}`}${expires_in_ms === undefined ? '' : `, expires in ${span(expires_in_ms)}`}`,
    ...commands.map((command) => `  ${visibleLine(command)}`),
  ].join('\n')

export const showInbox = (answer: Json): string => {
  const rows = parse(Rows, answer)
  if (!rows.ok) return JSON.stringify(answer, null, 2)
  return rows.value.length === 0 ? 'Nothing waits for approval or an answer.' : rows.value.map(showRow).join('\n')
}
