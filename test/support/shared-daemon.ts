/** One daemon for all tests of a file that need no death: each test takes a session of its own. */
import type { TestFn } from 'ava'
import { fault } from '../../core/base/assert.js'
import type { Reachable } from './daemon.js'
import { createOwner, startMortal, type Mortal, type MortalOptions } from './mortal.js'
import { openSession } from './runs.js'

export interface Stand {
  readonly daemon: Mortal
  readonly session_id: string
  /** Submits a detached run to the session. */
  send(body: unknown, headers?: Readonly<Record<string, string>>): ReturnType<Reachable['request']>
  /** Status, code and first field of a refused submission. */
  refusal(body: unknown, headers?: Readonly<Record<string, string>>): Promise<unknown[]>
}

/** Starts the daemon before the tests of the file and ends it after them. */
export const shareDaemon = (test: TestFn, options: MortalOptions = {}): (() => Promise<Stand>) => {
  let shared: Mortal | undefined
  const owner = createOwner()
  let sessions = 0
  test.before(async () => {
    shared = await startMortal(owner, options)
  })
  test.after.always(owner.end)
  return async () => {
    const daemon = shared
    if (daemon === undefined) throw fault('the daemon of this file did not start')
    const session_id = await openSession(daemon, `stand-${(sessions += 1)}`)
    const send: Stand['send'] = (body, headers) =>
      daemon.request('POST', `/v1/sessions/${session_id}/runs`, body, headers)
    const refusal: Stand['refusal'] = async (body, headers) => {
      const { status, body: problem } = await send(body, headers)
      return [status, problem.code, problem.errors?.[0]?.path]
    }
    return { daemon, session_id, send, refusal }
  }
}
