import test from 'ava'
import { takenWarnings } from '../../../../core/host/context/taken-warnings.js'

const wanted = 'what it returned must be an array of warnings, an empty one where it has none'

test('runtime-7: a health check that returns something else than an array is told what is wanted', (t) => {
  const late = 'what it returned is a promise, and nobody waits for it'
  const rejected = Promise.reject(new Error('late'))
  for (const [found, message] of [
    [Promise.resolve([]), late],
    [rejected, late],
    [undefined, wanted],
    [null, wanted],
    [5, wanted],
    [{ severity: 'info' }, wanted],
  ] as const)
    t.throws(() => takenWarnings(found), { message })
  t.throws(() => takenWarnings([{ severity: 'info' }]), { message: /^what it returned are no warnings: \S*code /u })
  t.deepEqual(takenWarnings([]), [])
})
