/** A change of the key, killed in front of each thing that it does to files. */
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { SecretSeal, SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { freshRoot, spawnDaemon, startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { partOf } from '../../../support/volume.js'

const preload = fileURLToPath(new URL('../../../support/kill-step.js', import.meta.url))
/** More than are encrypted anew in one commit. */
const count = 120

/** A root with secrets in it. */
const filled = async (root: string): Promise<void> => {
  const daemon = await spawnDaemon({ root })
  const store = (n: number) =>
    daemon.request('POST', '/v1/runtime/secrets', { slot_id: `s${n}`, state: { value: `value-${n}` } })
  await Promise.all(Array.from({ length: count }, (_, n) => store(n)))
  await daemon.stop()
}

/** A value under the lasting key. */
const sealedIn = async (t: ExecutionContext, root: string) => {
  const lent = lender({ seal: SecretSeal })
  const daemon = await startTestDaemon(t, { root, plugins: [lent.plugin] })
  const sealed = lent.services().seal.sealLasting('lasting value', 'here')
  await daemon.stop()
  return sealed
}

test('secrets-11, secrets-24: a change of the key that is killed at any step loses no secret, and the next start ends it', async (t) => {
  const root = await freshRoot()
  await filled(root)
  const sealed = await sealedIn(t, root)
  let survived = false
  const keys = new Set<string>()
  for (let at = 1; !survived; at += partOf(5, 1)) {
    const env = { NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(at), KILL_FROM: 'slots.key.next' }
    const killed = await spawnDaemon({ root, env })
    survived = await killed.request('POST', '/v1/runtime/secrets-key').then(
      ({ status }) => status === 200,
      () => false,
    )
    await killed.kill('SIGKILL')
    const slots = lender({ slots: SecretSlots, seal: SecretSeal })
    const next = await startTestDaemon(t, { root, plugins: [slots.plugin] })
    for (let n = 0; n < count; n += 1) t.is(slots.services().slots.value(`s${n}`), `value-${n}`, `killed at step ${at}`)
    t.is(slots.services().seal.open(sealed, 'here'), 'lasting value')
    const { body } = await next.request('GET', '/v1/runtime/secrets')
    const [key_id, ...others] = new Set<string>(body.map(({ details }: any) => details.key_id))
    t.deepEqual(others, [])
    keys.add(String(key_id))
    await next.stop()
  }
  t.true(keys.size > 3, 'some were killed before the new key was on disk, others behind it')
})
