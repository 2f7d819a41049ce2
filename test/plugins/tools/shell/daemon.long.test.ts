import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { assert } from '../../../../core/base/assert.js'
import { createClock } from '../../../../core/base/clock.js'
import { readProcesses } from '../../../../core/state/root/process-table.js'
import { rootTag } from '../../../../core/processes/marker.js'
import { freshRoot, spawnDaemon, spawnTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const clock = createClock()

const marked = async (root: string): Promise<number[]> =>
  (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`) === true).map(({ pid }) => pid)

const eventually = async (holds: () => Promise<boolean>): Promise<boolean> => {
  for (let n = 0; n < 500; n += 1) {
    if (await holds()) return true
    await clock.sleep(20)
  }
  return false
}

test('a run uses files and the shell of its workspace, and a cancel stops its command', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const daemon = await spawnDaemon({
    root,
    flags: ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions'],
  })
  await openSession(daemon)
  const done = await submit(
    daemon,
    's1',
    '/tool write_file {"path":"a.txt","content":"made by a run"}\n---\n/tool bash {"command":"cp a.txt b.txt"}',
  )
  t.is((await until(daemon, done.run_id, 'completed', 'failed')).status, 'completed')
  t.is(await readFile(join(workspace, 'b.txt'), 'utf8'), 'made by a run')
  const long = await submit(daemon, 's1', '/tool bash {"command":"(setsid sleep 300 &); touch ready; sleep 300"}')
  t.true(
    await eventually(() =>
      readFile(join(workspace, 'ready')).then(
        () => true,
        () => false,
      ),
    ),
  )
  await daemon.request('POST', `/v1/runs/${long.run_id}/cancel`)
  t.true(await eventually(async () => (await marked(root)).length === 0))
  await daemon.stop()
})

/** The small process that starts programs for a daemon. */
const starterOf = async (daemon: number | undefined): Promise<number> => {
  const found = (await readProcesses()).find(({ ppid }) => ppid === daemon)
  assert(found !== undefined, 'the daemon has a starter')
  return found.pid
}

for (const [what, isHeld, left] of [
  ['its command goes with it, and what left its group', false, 0],
  ['beside its starter what left the group of its command is stopped at the next start', true, 1],
] as const)
  test(`when the daemon is killed ${what}`, async (t) => {
    const [root, workspace] = [await freshRoot(), await makeFolder(t)]
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
    const first = await spawnDaemon({ root, flags })
    await openSession(first)
    await submit(
      first,
      's1',
      '/tool bash {"command":"setsid sleep 300 & while :; do date +%N > beat; touch ready; sleep 0.05; done"}',
    )
    t.true(
      await eventually(() =>
        readFile(join(workspace, 'ready')).then(
          () => true,
          () => false,
        ),
      ),
    )
    const starter = await starterOf(first.pid)
    if (isHeld) process.kill(starter, 'SIGSTOP')
    await first.kill('SIGKILL')
    t.true(await eventually(async () => (await marked(root)).length === left))
    if (isHeld) process.kill(starter, 'SIGKILL')
    const second = await spawnDaemon({ root, flags })
    t.deepEqual(await marked(root), [])
    await second.stop()
  })

/** A daemon with one session and a command in the background that is ready; `again` starts it anew on the same root. */
const withBackground = async (t: ExecutionContext, command: string) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const again = () =>
    spawnTestDaemon(t, { root, flags: ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions'] })
  const daemon = await again()
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', `/tool bash ${JSON.stringify({ command, run_in_background: true })}`)
  await until(daemon, run_id, 'completed')
  t.true(
    await eventually(() =>
      readFile(join(workspace, 'ready')).then(
        () => true,
        () => false,
      ),
    ),
  )
  const [task] = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body
  return { root, daemon, again, path: `/v1/sessions/s1/tasks/${task.id}` }
}

const hostile =
  `trap '' TERM; (setsid sh -c "trap '' TERM; sleep 300" &); (setsid sh -c '(sleep 300 &)' &); echo before; ` +
  'touch ready; while :; do sleep 0.1; done'

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(
    `after a ${signal} of the daemon a task in the background has failed at the next start, its output is there ` +
      'and nothing of it is left',
    async (t) => {
      const { root, daemon, again, path } = await withBackground(t, hostile)
      t.true((await marked(root)).length >= 3)
      const exit = await daemon.kill(signal)
      if (signal === 'SIGTERM') {
        t.is(exit.code, 0)
        t.deepEqual(await marked(root), [], 'a daemon that stops takes its commands along')
      }
      const second = await again()
      t.deepEqual(await marked(root), [])
      const view = (await second.request('GET', `${path}/output?full=true`)).body
      t.deepEqual([view.retrieval_status, view.task.status, view.output_text], ['success', 'failed', 'before\n'])
      t.like(view.task.metadata, {
        kind: 'background_shell',
        terminal_reason: 'daemon_restarted',
        recovered_on_boot: true,
      })
      t.false('stop_requested' in view.task.metadata || 'exit_code' in view.task.metadata)
      t.is((await second.request('GET', '/v1/status')).body.tasks.live_background_shell_task_count, 0)
      await second.stop()
      const third = await again()
      t.deepEqual((await third.request('GET', path)).body, view.task, 'a second start changes nothing')
      await third.stop()
    },
  )
}

test('a daemon that is killed while a task is being stopped says that it was restarted', async (t) => {
  const { root, daemon, again, path } = await withBackground(
    t,
    `trap '' TERM; touch ready; while :; do sleep 0.1; done`,
  )
  t.is((await daemon.request('POST', `${path}/stop`, {})).body.metadata.stop_requested, true)
  await daemon.kill('SIGKILL')
  const second = await again()
  t.deepEqual(await marked(root), [])
  const { status, metadata } = (await second.request('GET', path)).body
  t.is(status, 'failed')
  t.is(metadata.terminal_reason, 'daemon_restarted')
  t.false('stop_requested' in metadata)
  await second.stop()
})
