/** A real process that is stopped while a caller waits for a hook. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { rootTag } from '../../../../core/processes/marker.js'
import { readProcesses } from '../../../../core/state/root/process-table.js'
import { runLine } from '../../../support/command-line.js'
import { freshRoot, spawnTestDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { eventually } from '../../../support/mcp.js'
import { openSession } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const clock = createClock()
const obeys = 'echo begun > begun; sleep 981'
const stubborn = "trap '' TERM INT HUP PIPE; sleep 981 & echo begun > begun; while :; do sleep 1; done"

const left = async (root: string): Promise<number> =>
  (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`) === true).length

/** What waits for the hook, and what would be there if it had not. */
const waits = {
  user_prompt_submit: {
    ask: (daemon: SpawnedDaemon) => daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hello' }),
    made: async (daemon: SpawnedDaemon) => (await daemon.request('GET', '/v1/runs')).body.length,
  },
  config_change: {
    ask: (daemon: SpawnedDaemon) => daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'plan' }),
    made: async (daemon: SpawnedDaemon) =>
      (await daemon.request('GET', '/v1/runtime/revisions')).body.revisions.length - 1,
  },
}

const stopAmid = async (t: ExecutionContext, moment: keyof typeof waits, command: string): Promise<void> => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  const flags = ['--workspace-root', workspace]
  const daemon = await spawnTestDaemon(t, { root, flags })
  await openSession(daemon)
  const hook = { name: 'guard', executor: { type: 'command', command, timeout_ms: 300_000 } }
  const hooks = { [moment]: [hook, { ...hook, name: 'next' }] }
  t.is((await daemon.request('POST', '/v1/runtime/hooks', { hooks })).status, 200)
  const asked = waits[moment].ask(daemon)
  await eventually(async () => (await readFile(join(workspace, 'begun'), 'utf8').catch(() => '')) !== '' || undefined)
  const from = clock.elapsed()
  const stopped = daemon.kill('SIGTERM')
  const { status, body } = await asked
  t.like(
    { status, code: body.code, domain: body.domain },
    { status: 503, code: 'daemon_draining', domain: 'readiness' },
  )
  t.is((await stopped).code, 0)
  t.true(clock.elapsed() - from < 8_000, `the stop took ${clock.elapsed() - from} ms`)
  t.is(await left(root), 0, 'no process of the hook is left')
  t.false(/"level":"error"|was stopped, so/u.test(daemon.logText()), daemon.logText())
  if (moment === 'user_prompt_submit') {
    const { out } = await runLine('state', 'show', 'external_actions', 's1', '--state-root', root)
    const [intent, outcome, ...more] = JSON.parse(out)
    t.like(intent, { type: 'intent', target: 'guard (command)' })
    t.like(outcome, { type: 'outcome', outcome: 'unknown', code: 'hook_cut_off' }, 'told before the end')
    t.deepEqual(more, [], 'the next hook was not asked')
  }
  const next = await spawnTestDaemon(t, { root, flags })
  t.is(await waits[moment].made(next), 0, 'nothing has changed')
  await next.stop()
}

for (const moment of ['user_prompt_submit', 'config_change'] as const)
  for (const [how, command] of Object.entries({ obeys, stubborn }))
    test(`hooks-18: a stop ends a hook of ${moment} that ${how === 'obeys' ? 'obeys' : 'hears no signal'}, and its caller is told at once`, (t) =>
      stopAmid(t, moment, command))
