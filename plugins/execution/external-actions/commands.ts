import {
  array,
  defineCommand,
  open,
  optional,
  string,
  number,
  visibleLine,
  type Command,
  type Infer,
} from '../../../core/plugin.js'

const Row = open({
  timestamp_ms: number(),
  kind: string(),
  target: string(),
  outcome: string(),
  attempts: number(),
  code: optional(string()),
  approved_by: open({ type: string(), id: string() }),
})

const show = (rows: Infer<typeof Row>[]): string => {
  if (rows.length === 0) return 'This run did nothing outside the daemon.'
  return rows
    .map(
      ({ timestamp_ms, kind, target, outcome, attempts, code, approved_by: { type, id } }) =>
        `${new Date(timestamp_ms).toISOString()}  ${outcome.padEnd(7)}  ${kind} ${visibleLine(target)}  by ${type} ` +
        `${visibleLine(id)}${attempts > 1 ? `  ${attempts} attempts` : ''}${code === undefined ? '' : `  ${code}`}`,
    )
    .join('\n')
}

export const actionCommands: readonly Command[] = [
  defineCommand({
    path: ['runs', 'actions'],
    summary: 'What a run did outside the daemon, and how it ended.',
    args: ['run_id'],
    run: ({ client, args }) => client.get(`/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}/external-actions`),
    answer: array(Row),
    show,
  }),
]
