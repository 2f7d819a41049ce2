/** Records of earlier versions are carried over beside the work, and hold up no stop. */
import test from 'ava'
import { openSession } from '../../../support/runs.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { Sessions } from '../../../../plugins/execution/sessions/contract.js'
import { begunBeside, carryOverRecords } from '../../../../plugins/execution/deliveries/contract.js'

test('deliveries-34, runtime-20: what is carried over ends with the daemon, and goes on at the next start', async (t) => {
  const lent = lender({ sessions: Sessions })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  for (let n = 0; n < 250; n += 1) await openSession(daemon, `s${n}`)
  const { state } = lent.context()
  const { collection } = lent.services().sessions
  let looked = 0
  const carry = (signal: AbortSignal, onLook: () => void): Promise<number> =>
    carryOverRecords({ state, collection, index: 'created', signal }, () => {
      looked += 1
      onLook()
      return undefined
    })
  let failed: unknown
  const end = begunBeside(async (signal) => {
    await carry(signal, () => void (looked === 150 && end())).catch((error: unknown) => (failed = error))
  })()
  while (failed === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  t.is(looked, 150, 'no portion begins behind the end')
  looked = 0
  await carry(new AbortController().signal, () => {})
  t.is(looked, 250)
})
