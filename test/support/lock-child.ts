/**
 * A process that takes a root's lock and says how it went: `locked <generation>` or `refused <code> <pid>`; holds it
 * until killed or told to end.
 */
import { createClock } from '../../core/base/clock.js'
import { Problem } from '../../core/base/errors.js'
import { acquireLock } from '../../core/state/root/lock.js'
import { mechanisms } from '../../core/state/root/owner.js'

const [root = '', guard = 'flock'] = process.argv.slice(2)
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

try {
  const lock = await acquireLock({
    root,
    clock: createClock(),
    log: silent,
    guards: mechanisms.filter((kind) => kind === guard),
  })
  process.stdout.write(`locked ${lock.generation}\n`)
  lock.onLost((reason) => process.stdout.write(`lost ${reason}\n`))
  process.stdin.on('end', () => void lock.release().then(() => process.exit(0))).resume()
} catch (cause) {
  const pid = cause instanceof Problem ? cause.occurrence.members?.['pid'] : undefined
  process.stdout.write(`refused ${cause instanceof Problem ? cause.code : String(cause)} ${pid ?? 0}\n`)
}
