/** The example of the guide for sources of memory. */
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin } from '../../core/testing/contract.js'
import makeAlmanac from '../../docs/examples/almanac/plugin.js'
import { startTestDaemon } from '../support/daemon.js'
import { openSession } from '../support/runs.js'

test.serial('almanac: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeAlmanac))
  t.pass()
})

test.serial('almanac: what it knows is told to a session that asks for it', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [makeAlmanac(kit)] })
  await openSession(daemon)
  const { body } = await daemon.request('GET', '/v1/sessions/s1/memory-context?query=tide')
  t.deepEqual(
    body.learned_context.entries.map(({ content }: { content: string }) => content),
    ['High tide is at noon.'],
  )
})
