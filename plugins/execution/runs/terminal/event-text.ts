/** Events and steps of a run as text for terminals. */
import { array, count, number, open, optional, string, type Infer } from '../../../../core/plugin.js'
import { fileText, ShownFile } from '../../../media/assets/contract.js'
import { endTexts, oneLine } from './run-text.js'

export const RunEvents = array(
  open({
    timestamp_ms: number(),
    event: open({
      type: string(),
      error: optional(string()),
      output: optional(open({ content: string() })),
      tool_names: optional(array(string())),
      not_taken: optional(string()),
      ended: optional(string()),
      queries: optional(array(string())),
      pages: optional(array(open({ url: string() }))),
      tool_name: optional(string()),
      outcome: optional(string()),
      attempt: optional(number()),
      code: optional(string()),
      message: optional(string()),
      from: optional(string()),
      to: optional(string()),
      moment: optional(string()),
      by: optional(string()),
      did: optional(array(string())),
      reason: optional(string()),
      files: optional(array(ShownFile)),
    }),
  }),
)

type ShownEvent = Infer<typeof RunEvents>[number]['event']

const searchText = ({ queries = [], pages = [] }: ShownEvent): string =>
  `${queries.map((query) => JSON.stringify(query)).join(', ')}: ${count(pages.length, 'page')}`

/** What an event or step says beside its name. */
const detailOf = (event: ShownEvent): string | undefined => {
  const { error, output, tool_names, not_taken, ended, tool_name, outcome, attempt, code, message, to, did, files } =
    event
  if (did !== undefined) {
    const { moment = '', by = '', reason } = event
    return `${by} at ${moment}: ${did.join(', ')}${reason === undefined ? '' : `: ${reason}`}`
  }
  if (event.queries !== undefined) return searchText(event)
  if (not_taken !== undefined) return `not taken: ${not_taken}`
  if (tool_names !== undefined) {
    const parts = [
      ended === undefined ? undefined : (endTexts[ended] ?? ended),
      ...(tool_names.length === 0 ? [] : [`calls ${tool_names.join(', ')}`]),
    ]
    return parts.filter((part) => part !== undefined).join(', ') || undefined
  }
  if (tool_name !== undefined) {
    const parts = [tool_name, outcome, code, message, files?.map(fileText).join('; ')]
    return parts.filter((part) => part !== undefined).join(': ')
  }
  const why = code === undefined ? [] : [`${code}: ${message ?? ''}`]
  if (to !== undefined) return [`${to} in place of ${event.from ?? ''}`, ...why].join(', ')
  if (attempt !== undefined) return [`attempt ${attempt}`, ...why].join(', ')
  return error ?? output?.content ?? why[0]
}

export const showEvents = (entries: Infer<typeof RunEvents>): string => {
  const start = entries[0]?.timestamp_ms ?? 0
  return entries
    .map(({ timestamp_ms, event }) => {
      const more = detailOf(event)
      return (
        `+${((timestamp_ms - start) / 1000).toFixed(3).padStart(9)} s  ` +
        `${event.type}${more === undefined ? '' : `  ${oneLine(more, 200)}`}`
      )
    })
    .join('\n')
}
