/**
 * Loaded before everything else: kills the process in front of the step with the number KILL_AT of what is done to
 * files, counted from the first one that names KILL_FROM, and only once the file KILL_WHEN is there.
 */
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

type Loose = any
const [loose, looseFiles]: Loose[] = [fs, promises]
const { KILL_AT: at, KILL_FROM: from = '', KILL_WHEN: when } = process.env
const last = Number(at)
let steps = 0
const step = (path: unknown): void => {
  if (steps === 0 && from !== '' && !(typeof path === 'string' && path.includes(from))) return
  if (steps === 0 && when !== undefined && !fs.existsSync(when)) return
  steps += 1
  if (steps >= last) process.kill(process.pid, 'SIGKILL')
}

for (const name of ['open', 'rename', 'unlink', 'mkdir', 'write', 'fsync', 'fdatasync', 'close'])
  for (const api of [loose, looseFiles]) {
    const real = api[name]
    if (real === undefined) continue
    api[name] = (...args: Loose[]): Loose => {
      step(args[0])
      return real(...args)
    }
  }
const probe = await promises.open('/')
const prototype: Loose = Object.getPrototypeOf(probe)
await probe.close()
for (const name of ['write', 'sync', 'datasync', 'truncate']) {
  const real = prototype[name]
  prototype[name] = function stepped(this: Loose, ...args: Loose[]): Loose {
    step(undefined)
    return real.apply(this, args)
  }
}
syncBuiltinESMExports()
