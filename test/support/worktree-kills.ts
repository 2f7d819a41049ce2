/** A run in a worktree whose daemon is killed beside a command of git that makes, looks at or removes it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { freshRoot, spawnDaemon, spawnTestDaemon } from './daemon.js'
import { checkSound, makeRepository, worktreesOf, writeFiles } from './repositories.js'
import { openSession, submit, until } from './runs.js'
import { makeFolder } from './tools.js'

const clock = createClock()

/** A git that kills the daemon before or behind its call number `at`, and counts its calls. */
const killingGit = async (t: ExecutionContext): Promise<string> => {
  const folder = await makeFolder(t)
  const found = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh
cd_to=$PWD
n=$(cat ${folder}/count 2>/dev/null || echo 0); n=$((n + 1)); echo $n > ${folder}/count
kill_if() { if [ "$(cat ${folder}/at 2>/dev/null)" = "$1 $n" ]; then kill -9 "$(cat ${folder}/pid)"; sleep 600; fi; }
kill_if before
${found} "$@"; code=$?
kill_if behind
exit $code
`
  await writeFiles(folder, { git: script })
  chmodSync(join(folder, 'git'), 0o755)
  return folder
}

const namesIn = (root: string): string[] =>
  existsSync(join(root, 'worktrees')) ? readdirSync(join(root, 'worktrees')) : []

/** The end of a run whose daemon is killed at a call of git, in the life after that. */
export const lifeAndDeath = async (t: ExecutionContext, content: string, at: string) => {
  const [root, workspace, programs] = [await freshRoot(), await makeRepository(t), await killingGit(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
  const env = { PATH: `${programs}:${process.env['PATH'] ?? ''}` }
  const first = await spawnDaemon({ root, flags, env })
  await openSession(first)
  await first.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'worktree' })
  // The calls that look whether the workspace is in a repository come before the run is accepted.
  const before = 4
  const [side = '', number = ''] = at.split(' ')
  await writeFiles(programs, { pid: String(first.pid), at: `${side} ${Number(number) + before}` })
  // The kill may come before the answer; the run is accepted all the same.
  const submitted = await submit(first, 's1', content).catch(() => undefined)
  const finished = await Promise.race([
    first.exited.then(() => 'killed'),
    settled(first, submitted?.run_id ?? '').then(
      () => 'ended',
      () => first.exited.then(() => 'killed'),
    ),
  ])
  if (finished === 'ended') await first.kill('SIGKILL')
  await writeFiles(programs, { at: 'never' })
  checkSound(workspace)
  const second = await spawnTestDaemon(t, { root, flags, env })
  const [made] = (await second.request('GET', '/v1/runs?session_id=s1')).body
  const run = await settled(second, submitted?.run_id ?? made.run_id)
  const outcome = {
    run,
    killed: finished === 'killed',
    folders: namesIn(root),
    known: worktreesOf(workspace),
    kept: run.worktree === undefined ? undefined : readFileSync(join(run.worktree.path, 'b.txt'), 'utf8'),
  }
  await second.stop()
  checkSound(workspace)
  return outcome
}

const settled = async (daemon: Parameters<typeof until>[0], run_id: string): Promise<any> => {
  await until(daemon, run_id, 'completed', 'failed')
  for (;;) {
    const { body } = await daemon.request('GET', `/v1/runs/${run_id}`)
    if (body.worktree === undefined || body.worktree.state === 'kept') return body
    await clock.sleep(10)
  }
}

/**
 * Calls of git for one run: four that look, one that makes, one that asks for the git folder, two that fill it, three
 * that look for changes, one that removes.
 */
export const allCalls = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
export const sides = ['before', 'behind'] as const
