/** Large bodies: how long they keep all other requests waiting. Beside it, how long one takes where it is read. */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { programOf, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { longestOther, send } from '../../whole/worst-texts.js'
import { readHere } from '../body-sender.js'

const run = promisify(execFile)
const clients = 4
/** Clients that come at once, once each. */
const crowd = 500

/** The most MiB that a daemon has while something goes on. */
const mostResident = async (resident: () => number, work: () => Promise<unknown>): Promise<number> => {
  let most = resident()
  const looking = setInterval(() => (most = Math.max(most, resident())), 50)
  await work()
  clearInterval(looking)
  return most
}

const measure = async ({ note, rounds, quick }: Bench): Promise<void> => {
  const root = temporaryRoot()
  const daemon = await startDaemon(root)
  await send({ url: daemon.url, workspace: root, session: '' }, 'POST', '/v1/sessions', { session_id: 'bodies' })
  const args = [programOf('body-sender'), daemon.url, 'bodies', String(clients), String(rounds)]
  const longest = await longestOther(daemon.url, () => run(process.execPath, args))
  note(`bodies of 23 MiB from ${clients} clients, another request longest`, 'ms', 'less', longest, readHere())
  note('resident, after the bodies', 'MB', 'less', daemon.resident())
  const before = daemon.resident()
  const all = quick ? crowd / 10 : crowd
  const many = [programOf('body-sender'), daemon.url, 'bodies', String(all)]
  const most = await mostResident(daemon.resident, () => run(process.execPath, many))
  note(`resident, added by ${all} bodies at once`, 'MB', 'less', most - before)
  await daemon.stop()
  rmSync(root, { recursive: true })
}

export const bodies: Part = { name: 'bodies', measure }
