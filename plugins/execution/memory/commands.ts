import {
  array,
  boolean,
  defineCommand,
  number,
  open,
  string,
  visibleLine,
  type Command,
  type Infer,
  showTime,
} from '../../../core/plugin.js'
import { groupCommands } from '../../operator/runtime/contract.js'
import { RunMemoryPolicy } from './recording/policy.js'

const Found = open({
  truncated: boolean(),
  results: array(
    open({ kind: string(), source_id: string(), title: string(), score: number(), timestamp_ms: number() }),
  ),
})

const showFound = ({ results, truncated }: Infer<typeof Found>): string => {
  if (results.length === 0) return 'Nothing is remembered that fits.'
  const rows = results.map(
    ({ kind, source_id, title, score, timestamp_ms }) =>
      `${showTime(timestamp_ms).slice(0, 19)}Z  ${kind.padEnd(13)}  ${visibleLine(source_id)}  ` +
      `${visibleLine(title)}${score > 0 ? `  (${score})` : ''}`,
  )
  return [...rows, ...(truncated ? ['There is more: name it closer, or raise --limit.'] : [])].join('\n')
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'memory'],
    route: 'GET /v1/sessions/{session_id}/memory-search',
    summary: 'What a session remembers; with QUERY what fits it.',
    args: ['session_id', 'query?'],
    flags: { limit: { kind: 'text', summary: 'Most results, at most 50.' } },
    run: ({ client, args, flags }) => {
      const wish = new URLSearchParams({
        ...(args['query'] !== undefined && { query: args['query'] }),
        ...(typeof flags['limit'] === 'string' && { limit: flags['limit'] }),
      })
      return client.get(`/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}/memory-search?${wish.toString()}`)
    },
    answer: Found,
    show: showFound,
  }),
  ...groupCommands({
    path: 'run-memory-policy',
    member: 'policy',
    what: 'what is remembered of runs',
    struct: RunMemoryPolicy,
  }),
]
