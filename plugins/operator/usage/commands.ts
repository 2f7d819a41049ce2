import {
  array,
  commandErrors,
  defineCommand,
  number,
  open,
  optional,
  string,
  visibleLine,
  type Command,
  type Infer,
} from '../../../core/plugin.js'

const Row = open({
  day: optional(string()),
  session_id: optional(string()),
  route: optional(string()),
  purpose: optional(string()),
  calls: number(),
  input_tokens: number(),
  output_tokens: number(),
  cost_microusd: optional(number()),
})
type Row = Infer<typeof Row>

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/u.test(text)

const kinds = ['day', 'session', 'route', 'purpose'] as const
/** What a row is of, by what rows are made for. */
const namesOf = ({ day, session_id: session, route, purpose }: Row) => ({ day, session, route, purpose })
const kindOf = (row: Row): (typeof kinds)[number] => kinds.find((kind) => namesOf(row)[kind] !== undefined) ?? 'day'

const cells = (row: Row): string[] => [visibleLine(namesOf(row)[kindOf(row)] ?? ''), ...amounts(row)]
const amounts = ({ calls, input_tokens, output_tokens, cost_microusd }: Row): string[] => [
  String(calls),
  String(input_tokens),
  String(output_tokens),
  cost_microusd === undefined ? '-' : (cost_microusd / 1e6).toFixed(6),
]

/** Days as they follow each other; of everything else first what cost most, or had most tokens. */
const ordered = (rows: readonly Row[]): readonly Row[] => {
  const tokens = (row: Row): number => row.input_tokens + row.output_tokens
  return rows.some(({ day }) => day !== undefined)
    ? rows
    : rows.toSorted((a, b) => (b.cost_microusd ?? 0) - (a.cost_microusd ?? 0) || tokens(b) - tokens(a))
}

const showRows = (rows: Row[]): string => {
  const [first] = rows
  if (first === undefined) return 'Nothing was used.'
  const table = [[kindOf(first), 'calls', 'input tokens', 'output tokens', 'USD'], ...ordered(rows).map(cells)]
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...table.map((line) => line[at]?.length ?? 0)))
  return table
    .map((line) =>
      line
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['usage'],
    route: 'GET /v1/usage',
    summary: 'What model calls used and cost.',
    flags: {
      by: { kind: 'text', summary: 'What a row is of; day when absent.' },
      from: { kind: 'text', summary: 'Not before this day.', value: 'day' },
      to: { kind: 'text', summary: 'Not after this day.', value: 'day' },
      'session-id': { kind: 'text', summary: 'Only what this session used.' },
    },
    choices: { by: kinds },
    run: async ({ client, flags }) => {
      const { from, to } = flags
      // Where one of them is no day, the daemon says so.
      if (typeof from === 'string' && typeof to === 'string' && isDay(from) && isDay(to) && from > to)
        throw commandErrors.flag_invalid({ details: { flag: 'from', problem: 'must not be later than --to' } })
      const query = new URLSearchParams()
      for (const name of ['by', 'from', 'to', 'session-id'])
        if (typeof flags[name] === 'string') query.set(name.replace('-', '_'), flags[name])
      const rows = await client.get(`/v1/usage?${query.toString()}`)
      const session_id = flags['session-id']
      // Nothing is said of a session that there is none of; sums outlast sessions.
      if (typeof session_id === 'string' && Array.isArray(rows) && rows.length === 0)
        await client.get(`/v1/sessions/${encodeURIComponent(session_id)}`)
      return rows
    },
    answer: array(Row),
    show: showRows,
  }),
]
