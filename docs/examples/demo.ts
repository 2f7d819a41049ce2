/**
 * The main job, played in a temporary root: a session, a run whose shell
 * command asks for approval, an output; then a kill -9 while a second run
 * waits, a restart, the approval, and nothing lost. `npm run demo`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDaemon, type RunningDaemon } from './daemon.js'

interface Approval {
  id: string
  tool_name: string
  input: { command: string }
}
interface Run {
  run_id: string
  status: string
  pending_approvals?: Approval[]
  outputs: { content: string }[]
}

const colour = process.stdout.isTTY || process.env['FORCE_COLOR'] !== undefined
type Paint = (text: string) => string
const paint =
  (code: number): Paint =>
  (text) =>
    colour ? `\u001b[${code}m${text}\u001b[0m` : text
const [bold, dim, red, green, yellow, cyan] = [1, 2, 31, 32, 33, 36].map(paint) as [
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
]

const say = (text = ''): void => {
  process.stdout.write(`${text}\n`)
}
const title = (text: string): void => say(`\n${bold(text)}`)
const fact = (text: string): void => say(`  ${green('✓')} ${text}`)
const check = (holds: boolean, text: string): void => {
  if (!holds) throw new Error(`it did not happen: ${text}`)
  fact(text)
}

const showEvent = (event: string, data: Record<string, unknown>): void => {
  const run = data['run'] as Run | undefined
  if (event === 'run_updated' && run !== undefined) say(`  ${dim('event')} ${cyan('run_updated')} ${run.status}`)
  if (event === 'output') say(`  ${dim('event')} ${cyan('output')} ${(data['output'] as { content: string }).content}`)
}

const waitFor = async (daemon: RunningDaemon, run_id: string, status: string): Promise<Run> => {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const run = await daemon.get<Run>(`/v1/runs/${run_id}`)
    if (run.status === status) return run
    if (['failed', 'cancelled', 'interrupted'].includes(run.status)) throw new Error(`run ${run_id} is ${run.status}`)
    await new Promise((next) => setTimeout(next, 20))
  }
  throw new Error(`run ${run_id} did not become ${status}`)
}

const submitShell = (daemon: RunningDaemon, command: string, answer: string): Promise<Run> =>
  daemon.post<Run>('/v1/sessions/demo/runs', {
    content: `/tool bash ${JSON.stringify({ command })}\n---\n/say ${answer}`,
  })

const approve = async (daemon: RunningDaemon, run: Run): Promise<void> => {
  const asked = run.pending_approvals?.[0]
  if (asked === undefined) throw new Error('no approval is pending')
  say(`  ${yellow('asks')}  may ${bold(asked.tool_name)} run ${bold(asked.input.command)} ?`)
  await daemon.post(`/v1/runs/${run.run_id}/approvals`, { resolutions: [{ request_id: asked.id, behavior: 'allow' }] })
  say(`  ${yellow('you')}   yes`)
}

const playFirstRun = async (daemon: RunningDaemon): Promise<string> => {
  title('A session, and a run in it')
  await daemon.post('/v1/sessions', { session_id: 'demo' })
  fact('session demo is created')
  void daemon.follow('/v1/sessions/demo/stream', showEvent)
  const { run_id } = await submitShell(
    daemon,
    'echo "hello from a real shell" | tee first.txt',
    'The file first.txt is written.',
  )
  fact(`run ${run_id} is accepted: from now on it is not lost`)
  await approve(daemon, await waitFor(daemon, run_id, 'waiting_for_approval'))
  const done = await waitFor(daemon, run_id, 'completed')
  await new Promise((next) => setTimeout(next, 100))
  check(done.outputs.at(-1)?.content === 'The file first.txt is written.', 'the run is completed with its output')
  return run_id
}

const playKill = async (daemon: RunningDaemon): Promise<string> => {
  title('kill -9 in the middle of the second run')
  const { run_id } = await submitShell(
    daemon,
    'echo "once, and only once" >> second.txt; wc -l < second.txt',
    'The file second.txt has its one line.',
  )
  const waiting = await waitFor(daemon, run_id, 'waiting_for_approval')
  fact(`run ${run_id} waits for approval ${waiting.pending_approvals?.[0]?.id ?? '?'}`)
  await daemon.kill('SIGKILL')
  say(`  ${red('☠')} the daemon ${daemon.pid} is killed: no goodbye, no flush`)
  return run_id
}

const playReturn = async (
  daemon: RunningDaemon,
  workspace: string,
  [first, second]: [string, string],
): Promise<void> => {
  title('The daemon is back on the same state')
  const before = await daemon.get<Run>(`/v1/runs/${first}`)
  check(before.status === 'completed' && before.outputs.length > 0, 'the first run is there, with its output')
  const waiting = await daemon.get<Run>(`/v1/runs/${second}`)
  check(waiting.status === 'waiting_for_approval', 'the second run still waits, with the same approval')
  void daemon.follow('/v1/sessions/demo/stream', showEvent)
  await approve(daemon, waiting)
  const done = await waitFor(daemon, second, 'completed')
  await new Promise((next) => setTimeout(next, 100))
  check(
    done.outputs.at(-1)?.content === 'The file second.txt has its one line.',
    'the second run is completed: nothing lost',
  )
  check(
    readFileSync(join(workspace, 'second.txt'), 'utf8') === 'once, and only once\n',
    'the shell command ran once, and only once',
  )
  check((await daemon.get<Run[]>('/v1/runs')).length === 2, 'two runs were submitted, two runs are there')
}

const play = async (folder: string): Promise<void> => {
  const workspace = join(folder, 'workspace')
  const root = join(folder, 'state')
  mkdirSync(workspace)
  let daemon = await startDaemon(root, workspace)
  try {
    say(`${bold('Holdfast')} ${dim(`on ${daemon.url}, state in ${root}`)}`)
    const first = await playFirstRun(daemon)
    const second = await playKill(daemon)
    daemon = await startDaemon(root, workspace)
    await playReturn(daemon, workspace, [first, second])
  } finally {
    await daemon.kill('SIGTERM')
  }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'))
try {
  await play(folder)
  say(`\n${green('All of this really happened.')} ${dim('Try it yourself: npm start, then the README.')}`)
} catch (error) {
  say(`\n${red('The demo failed:')} ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
