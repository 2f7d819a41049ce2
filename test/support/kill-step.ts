/**
 * Loaded before everything else: kills the process in front of the step with the number KILL_AT of what is done to
 * files, counted from the first one that names KILL_FROM.
 */
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

type Loose = any
const [loose, looseFiles]: Loose[] = [fs, promises]
const [last, from] = [Number(process.env['KILL_AT']), process.env['KILL_FROM'] ?? '']
let steps = 0
const step = (path: unknown): void => {
  if (steps === 0 && !(typeof path === 'string' && path.includes(from))) return
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
