/** Git, without hooks, questions, submodules and programs that watch files. */
import { createCapture, type Clock, type Supervised } from '../../../core/plugin.js'

export interface GitParts {
  readonly supervised: Supervised
  readonly clock: Clock
  readonly environment: () => Readonly<Record<string, string>>
  readonly timeout_ms: number
}

export interface GitWish {
  /** Absolute path of the folder that it runs in. */
  readonly folder: string
  readonly args: readonly string[]
  readonly signal: AbortSignal
  /** Variables of git itself. */
  readonly variables?: Readonly<Record<string, string>>
}

/** What it said; or why it did not do it, as the end of a sentence. */
export type GitAnswer = { readonly ok: true; readonly said: string } | { readonly ok: false; readonly reason: string }

export type Git = (wish: GitWish) => Promise<GitAnswer>

const outputBytes = 64 * 1024
/** Between SIGTERM and SIGKILL, milliseconds. */
const graceMs = 2_000
/** Characters of what git complains of. */
const mostReason = 300

const settings = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'submodule.recurse=false'].flatMap((setting) => [
  '-c',
  setting,
])

/** Variables of git that say where a repository is would lead it elsewhere; those that say who commits stay. */
const environmentOf = (passed: Readonly<Record<string, string>>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(passed).filter(([name]) => !name.startsWith('GIT_') || /^GIT_(?:AUTHOR|COMMITTER)_/u.test(name)),
  ),
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
})

/** The first thing that git calls fatal, else the last it said. */
const reasonIn = (complaint: string): string => {
  const lines = complaint.split('\n').filter((line) => line.trim() !== '')
  const line = lines.find((one) => /^(?:fatal|error): /u.test(one)) ?? lines.at(-1) ?? 'git does not say why'
  return line
    .replace(/^(?:fatal|error): /u, '')
    .replace(/\.$/u, '')
    .slice(0, mostReason)
}

const aborted = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })

export const createGit =
  ({ supervised, clock, environment, timeout_ms }: GitParts): Git =>
  async ({ folder, args, signal, variables }) => {
    const late = new AbortController()
    const cancel = clock.after(timeout_ms, () => late.abort())
    const program = await supervised.start({
      run: ['git', ...settings, ...args],
      folder,
      environment: { ...environmentOf(environment()), ...variables },
    })
    const [stdout, stderr] = [createCapture(outputBytes), createCapture(outputBytes)]
    program.stdout.on('data', stdout.add)
    program.stderr.on('data', stderr.add)
    const exit = await Promise.race([program.exited, aborted(AbortSignal.any([signal, late.signal]))])
    cancel()
    if (program.isThere) await program.stop(exit === 'aborted' ? graceMs : 0)
    await program.letGo()
    if (exit === 'aborted') return { ok: false, reason: late.signal.aborted ? 'git took too long' : 'it was stopped' }
    if (!exit.started) return { ok: false, reason: 'git is not installed' }
    if (exit.code !== 0) return { ok: false, reason: reasonIn(stderr.read().text) }
    return { ok: true, said: stdout.read().text }
  }
