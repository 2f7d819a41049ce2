/**
 * Who made a child process or a socket. Its `error` that nobody listens to is thrown with no code but that of Node in
 * its stack. Both are made seldom, so a look at the stack of each costs runs nothing.
 */
import { channel } from 'node:diagnostics_channel'
import { EventEmitter, errorMonitor } from 'node:events'
import { fault } from '../../base/assert.js'
import { isError, stackOf } from '../../base/text/thrown.js'
import { ownerOf, type CodeOwner } from './faults.js'

/** What can be told of an error that no code of a plugin is in the stack of. */
export interface Suspects {
  /** Whose child process or socket it is of. */
  readonly plugin?: string
  /** Those of others that are loaded, where the stack has nothing but Node's own code. */
  readonly plugins_of_others?: string
}

export interface Makers {
  suspects(error: unknown): Suspects
  end(): void
}

const channels = ['child_process', 'net.client.socket'].map((name) => channel(name))

/** A request makes its socket ten calls below whoever asked for it. */
const lines = 30

const deepStack = (): Error => {
  const usual = Error.stackTraceLimit
  Error.stackTraceLimit = lines
  const here = fault('made here')
  Error.stackTraceLimit = usual
  return here
}

const isOfNode = (error: unknown): boolean =>
  isError(error) &&
  (stackOf(error) ?? '')
    .split('\n')
    .filter((line) => /^\s+at /u.test(line))
    .every((line) => line.includes('node:'))

export const watchMakers = (owners: readonly CodeOwner[]): Makers => {
  const others = owners.filter(({ from }) => from !== 'shipped').map(({ id }) => id)
  const makers = new WeakMap<object, string>()
  const note = (message: unknown): void => {
    if (typeof message !== 'object' || message === null) return
    const plugin = ownerOf(deepStack(), owners)
    if (plugin === undefined || !others.includes(plugin)) return
    for (const made of Object.values(message))
      if (made instanceof EventEmitter)
        made.on(errorMonitor, (error: unknown) => {
          if (isError(error)) makers.set(error, plugin)
        })
  }
  if (others.length > 0) for (const made of channels) made.subscribe(note)
  return {
    suspects(error) {
      const plugin = isError(error) ? makers.get(error) : undefined
      if (plugin !== undefined) return { plugin }
      return others.length > 0 && isOfNode(error) ? { plugins_of_others: others.join(', ') } : {}
    },
    end: () => channels.forEach((made) => made.unsubscribe(note)),
  }
}
