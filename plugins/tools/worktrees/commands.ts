import {
  array,
  boolean,
  commandLine,
  cursorFlag,
  defineCommand,
  listedRows,
  open,
  optional,
  readRows,
  shellWord,
  showRows,
  string,
  visibleLine,
  type Command,
  type Infer,
  idWord,
} from '../../../core/plugin.js'

const Row = open({ run_id: string(), session_id: string(), path: string(), state: string() })
const showWorktree = ({ run_id, session_id, path, state }: Infer<typeof Row>): string =>
  `${visibleLine(run_id)}  ${state.replace('_', ' ').padEnd(7)}  ${idWord(session_id)}  ${visibleLine(path)}`
const showWorktrees = (rows: Infer<typeof Row>[]): string =>
  rows.length === 0
    ? 'No worktrees. A run gets one with: holdfast runs submit SESSION TEXT --worktree'
    : rows.map(showWorktree).join('\n')

const Removal = open({
  run_id: string(),
  path: string(),
  base_commit: string(),
  state: string(),
  repository: string(),
  work_tree: string(),
  git_dir: optional(string()),
  loss: optional(open({ files: array(string()), files_truncated: optional(boolean()), commits: array(string()) })),
})

const word = (text: string): string => visibleLine(shellWord(text))

/**
 * A command that shows what is there. Git finds everything by the folders that it made itself, so that it reads no
 * settings of what the run put at `.git`, and by commands that look into no repository within (worktrees-16).
 */
const seeing = ({ repository, work_tree, git_dir, base_commit }: Infer<typeof Removal>): string[] => {
  if (git_dir === undefined) return []
  const places = { GIT_DIR: repository, GIT_WORK_TREE: '.', GIT_INDEX_FILE: `${git_dir}/index` }
  const set = Object.entries(places).map(([name, value]) => `${name}=${word(value)}`)
  const steps = [
    `cd ${word(work_tree)}`,
    `export ${set.join(' ')}`,
    'git ls-files -zmo --exclude-standard | git update-index -z --add --remove --stdin',
    `git diff --cached --binary --no-ext-diff --no-textconv --ignore-submodules ${visibleLine(base_commit)}`,
  ]
  return [`See it: (${steps.join(' && ')})`]
}

const showPlan = (row: Infer<typeof Removal>): string => {
  const { run_id, repository, loss } = row
  const { files, files_truncated, commits } = loss ?? { files: [], commits: [] }
  return [
    'Nothing was removed. This would go with it:',
    ...(loss === undefined ? ['  git cannot tell what is there: look at it'] : []),
    ...files.map((line) => `  ${visibleLine(line)}`),
    ...(files_truncated === true ? ['  … and more'] : []),
    ...commits.map((commit) => `  commit ${visibleLine(commit)}`),
    ...seeing(row),
    ...commits
      .slice(0, 1)
      .map((newest) => `Keep the commits: git --git-dir=${word(repository)} branch NAME ${visibleLine(newest)}`),
    `Remove it with all that: ${commandLine('worktrees remove --discard', run_id)}`,
  ].join('\n')
}

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
    summary: 'Says what would go with the worktree that is kept of an ended run; --discard removes it with all that.',
    args: ['run_id'],
    fields: { 'query.dry_run': '--discard' },
    flags: { discard: { kind: 'switch', summary: 'Remove it, with all that is in it.' } },
    run: ({ client, args, flags }) => {
      const path = `/v1/worktrees/${encodeURIComponent(args['run_id'] ?? '')}`
      return client.send('DELETE', flags['discard'] === true ? path : `${path}?dry_run=true`)
    },
    answer: Removal,
    show: (row) => (row.state === 'kept' ? showPlan(row) : `Removed: ${visibleLine(row.path)}`),
    status: ({ state }) => (state === 'kept' ? 1 : 0),
  }),
]
