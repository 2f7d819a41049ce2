/** Who looks at what runs do. */
import test from 'ava'
import { RunObservers, type RunObserver } from '../../../../plugins/execution/engine/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'
import { openSession, submit, until } from '../../../support/runs.js'

const watchers = (...observers: readonly RunObserver[]) =>
  testPlugin('watchers', {
    register: (ctx) => {
      ctx.contribute(RunObservers, ...observers)
    },
  })

test('all who want to see what runs do see it in order, also where one of them throws', async (t) => {
  const seen: string[] = []
  const watcher = (name: string, active = true): RunObserver => ({
    name,
    active,
    observe: ({ kind, name: what, turn }) => {
      seen.push(`${name} ${kind} ${what} ${turn}`)
      if (name === 'first') throw new Error('this one is broken')
    },
  })
  const plugins = [watchers(watcher('first'), watcher('idle', false), watcher('second'))]
  const daemon = await startTestDaemon(t, { plugins, config: { tools: { permission_mode: 'bypassPermissions' } } })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool bash {"command":"true"}\n/say done')
  t.like(await until(daemon, run_id, 'completed', 'failed'), { status: 'completed' })
  t.deepEqual(
    seen,
    ['model demo 1', 'tool bash 1', 'model demo 2'].flatMap((what) => [`first ${what}`, `second ${what}`]),
  )
})
