/**
 * A daemon in this process that can be killed all the same: what is left of it is its root as the files are at that
 * moment, in a folder of their own, which is what kill -9 leaves. For tests whose runs act on nothing outside: it is
 * stopped only afterwards, and a process costs six times as much.
 */
import type { ExecutionContext } from 'ava'
import { fault } from '../../core/base/assert.js'
import { unsafeCast } from '../../core/base/schema.js'
import { copyRoot } from './crash.js'
import { freshRoot, startTestDaemon, type Reachable, type SpawnedDaemon } from './daemon.js'

export interface Mortal extends Reachable, Pick<SpawnedDaemon, 'kill' | 'stop'> {}

/** Stands for the test that owns a daemon of a whole file. */
export const createOwner = () => {
  const undos: (() => unknown)[] = []
  return {
    teardown: (undo: () => unknown): void => void undos.push(undo),
    end: async (): Promise<void> => {
      for (const undo of undos.toReversed()) await undo()
    },
  }
}

export interface MortalOptions {
  readonly root?: string
  /** As after `serve`, each with its value. */
  readonly flags?: readonly string[]
}

const flagsOf = (given: readonly string[]): Record<string, string> => {
  if (given.length % 2 === 1) throw fault('a flag of a daemon in this process has its value as the next word')
  return Object.fromEntries(
    given.flatMap((flag, at) => (at % 2 === 0 ? [[flag.replace(/^--/u, ''), given[at + 1] ?? '']] : [])),
  )
}

/** It is stopped by `t`'s teardown at the latest. */
export const startMortal = async (
  t: { teardown(undo: () => unknown): void },
  { root, flags = [] }: MortalOptions = {},
): Promise<Mortal> => {
  let home = root ?? (await freshRoot())
  const daemon = await startTestDaemon(unsafeCast<ExecutionContext>(t), { root: home, flags: flagsOf(flags) })
  const { url, request, stop } = daemon
  let isDead = false
  const kill: Mortal['kill'] = async (signal) => {
    if (!isDead && signal === 'SIGKILL') {
      const left = await freshRoot()
      copyRoot(home, left)
      home = left
    }
    isDead = true
    const over = stop()
    if (signal === 'SIGKILL') return { code: null, signal }
    await over
    return { code: 0, signal: null }
  }
  return {
    url,
    request,
    stop,
    kill,
    get root() {
      return home
    },
  }
}
