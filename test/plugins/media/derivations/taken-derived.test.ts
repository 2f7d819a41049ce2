import test from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import { DerivationProfiles } from '../../../../plugins/media/derivations/contract.js'
import { derivationErrors } from '../../../../plugins/media/derivations/errors.js'

test('a problem that a derivation profile gives is the one that it gave when it was looked at', (t) => {
  const problem = derivationErrors.transcription_unready()
  let asked = 0
  const answer = {
    type: 'failed',
    get problem(): unknown {
      asked += 1
      return asked > 1 ? 5 : problem
    },
  }
  const { derive } = unsafeCast<{ derive: { take(answer: unknown): unknown } }>(DerivationProfiles.answers)
  t.deepEqual(derive.take(answer), { type: 'failed', problem })
})
