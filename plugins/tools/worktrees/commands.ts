import {
  cursorFlag,
  defineCommand,
  listedRows,
  open,
  readRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type Infer,
} from '../../../core/plugin.js'

const Row = open({ run_id: string(), session_id: string(), path: string(), state: string() })
const showWorktree = ({ run_id, session_id, path, state }: Infer<typeof Row>): string =>
  `${visibleLine(run_id)}  ${state.replace('_', ' ').padEnd(7)}  ${visibleLine(session_id)}  ${visibleLine(path)}`
const showWorktrees = (rows: Infer<typeof Row>[]): string =>
  rows.length === 0
    ? 'No worktrees. A run gets one with: holdfast runs submit SESSION TEXT --worktree'
    : rows.map(showWorktree).join('\n')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['worktrees', 'list'],
    route: 'GET /v1/worktrees',
    summary: 'Git worktrees of runs: those in use, and those kept for what is in them.',
    flags: { limit: { kind: 'text', summary: 'Most worktrees to show, at most 100.' }, ...cursorFlag },
    run: (input) => readRows(input, `/v1/worktrees?limit=${encodeURIComponent(String(input.flags['limit'] ?? 50))}`),
    answer: listedRows(Row),
    show: showRows(showWorktrees),
  }),
  defineCommand({
    path: ['worktrees', 'remove'],
    route: 'DELETE /v1/worktrees/{run_id}',
    summary: 'Removes the worktree that is kept of an ended run, with all that is in it.',
    args: ['run_id'],
    run: ({ client, args }) => client.send('DELETE', `/v1/worktrees/${encodeURIComponent(args['run_id'] ?? '')}`),
    answer: Row,
    show: ({ path }) => `Removed: ${visibleLine(path)}`,
  }),
]
