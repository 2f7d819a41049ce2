import {
  array,
  defineCommand,
  open,
  optional,
  string,
  number,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
} from '../../../core/plugin.js'

const Row = open({
  timestamp_ms: number(),
  kind: string(),
  target: string(),
  outcome: string(),
  attempts: number(),
  code: optional(string()),
  acknowledged_at_ms: optional(number()),
  approved_by: open({ type: string(), id: string() }),
})

const show = (rows: Infer<typeof Row>[]): string => {
  if (rows.length === 0) return 'This run did nothing outside the daemon.'
  return rows
    .map(
      ({ timestamp_ms, kind, target, outcome, attempts, code, acknowledged_at_ms, approved_by: { type, id } }) =>
        `${new Date(timestamp_ms).toISOString()}  ${outcome.padEnd(7)}  ${kind} ${visibleLine(target)}  by ${type} ` +
        `${visibleLine(id)}${attempts > 1 ? `  ${attempts} attempts` : ''}${code === undefined ? '' : `  ${code}`}` +
        (acknowledged_at_ms === undefined ? '' : '  acknowledged'),
    )
    .join('\n')
}

const actionsPath = (args: CommandInput['args']): string =>
  `/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}/external-actions`

export const actionCommands: readonly Command[] = [
  defineCommand({
    path: ['runs', 'actions'],
    summary: 'What a run did outside the daemon, and how it ended.',
    args: ['run_id'],
    run: ({ client, args }) => client.get(actionsPath(args)),
    answer: array(Row),
    show,
  }),
  defineCommand({
    path: ['runs', 'acknowledge'],
    summary: 'Says that you have looked at the actions of a run whose outcome is unknown.',
    args: ['run_id'],
    flags: { note: { kind: 'text', summary: 'What you found; kept in the ledger.' } },
    run: ({ client, args, flags }) =>
      client.send(
        'POST',
        `${actionsPath(args)}/acknowledge`,
        typeof flags['note'] === 'string' ? { note: flags['note'] } : {},
      ),
    answer: array(Row),
    show,
  }),
]
