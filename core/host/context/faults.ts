/** Faults are charged to their owner: named in the log, counted for the operator, and they stop nothing else. */
import { fault } from '../../base/assert.js'
import { blamedFor } from './blame.js'
import type { Clock } from '../../base/clock.js'
import { Problem } from '../../base/errors.js'
import type { Log } from '../../base/text/log.js'
import type { Secrets } from '../../base/text/secrets.js'
import { causeOf, isError, messageOf, nameOf, stackOf } from '../../base/text/thrown.js'
import { redactedTo } from '../../base/words/redacted-to.js'
import { isBehindLoss } from '../../state/storage-errors.js'
import type { PluginFault } from '../contract.js'

export interface Faults {
  /**
   * Charges what came out of a callback of this plugin. What a contribution of another one threw into a shipped plugin
   * is charged to that one; a third-party plugin answers for what it calls.
   */
  charge(plugin: string, where: string, error: unknown): void
  /**
   * Charges what another plugin threw into a call of this one; false if that cannot be told, or it was an end on
   * demand. `details.where` says what of that plugin was called, if it is there.
   */
  chargeThrower(caller: string, fact: string, details: Details): boolean
  /** Whether the plugin is a part of the daemon. */
  isShipped(plugin: string): boolean
  count(plugin: string): number
  last(plugin: string): PluginFault | undefined
  /** The sentence of an error, redacted and cut. */
  sentence(error: unknown): string
  /** A callback whose throw or rejection is charged instead of passed on. Returns the work that it began, if any. */
  guard<A extends readonly unknown[]>(
    plugin: string,
    where: string,
    run: (...args: A) => unknown,
  ): (...args: A) => Promise<unknown> | undefined
}

/** A plugin by its code. */
export interface CodeOwner {
  readonly id: string
  readonly from: string
  /** Whether a line of a stack is in its code. */
  readonly owns: (line: string) => boolean
}

export interface FaultsOptions {
  readonly clock: Clock
  readonly log: Log
  readonly secrets: Secrets
  readonly owners: readonly CodeOwner[]
}

type Details = Readonly<Record<string, unknown>>

export const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise

const isAbort = (error: unknown): boolean => ['AbortError', 'TimeoutError'].includes(nameOf(error))

export const createFaults = ({ clock, log, secrets, owners }: FaultsOptions): Faults => {
  const faults = new Map<string, { count: number; last: PluginFault }>()
  const isShipped = (plugin: string): boolean => owners.every(({ id, from }) => id !== plugin || from === 'shipped')
  const sentence = (error: unknown): string => redactedTo(messageOf(error), 300, secrets.redact)
  /**
   * What to log of the error: the stack of plugins' code once, and the sentence alone when it comes again, or when the
   * stack is that of who found it.
   */
  const keep = (plugin: string, where: string, error: unknown): unknown => {
    const before = faults.get(plugin)
    const last: PluginFault = { at_ms: clock.now(), where, message: sentence(error) }
    faults.set(plugin, { count: (before?.count ?? 0) + 1, last })
    const isFound = blamedFor(error) === plugin && ownerOf(error, owners) !== plugin
    const isTold = before?.last.where === where && before.last.message === last.message
    return isFound || isTold ? last.message : shown(error, owners)
  }
  /** Whose code threw, or who is to blame for what a part of the daemon found wrong, if it is not the caller itself. */
  const throwerOf = (caller: string, error: unknown): string | undefined => {
    if (isAbort(error)) return undefined
    const owner = ownerOf(error, owners)
    const plugin = owner === undefined || isShipped(owner) ? (blamedFor(error) ?? owner) : owner
    return plugin === caller ? undefined : plugin
  }
  const charge = (plugin: string, where: string, error: unknown): void => {
    if (isBehindLoss(error)) return log.debug('refused behind a lost lock', { plugin, where })
    const thrower = isShipped(plugin) && !(error instanceof Problem) ? throwerOf(plugin, error) : undefined
    const at = thrower === undefined ? where : `${where} of ${plugin}`
    const charged = thrower ?? plugin
    log.error(`plugin ${charged} failed in ${at}`, { plugin: charged, where: at, error: keep(charged, at, error) })
  }
  const chargeThrower = (caller: string, fact: string, details: Details): boolean => {
    const { error, where } = details
    const plugin = throwerOf(caller, error)
    if (plugin === undefined) return false
    const at = typeof where === 'string' ? `${where}, called by ${caller}` : `a call by ${caller}`
    log.error(fact, { ...details, plugin, caller, error: keep(plugin, at, error) })
    return true
  }
  const guard =
    <A extends readonly unknown[]>(plugin: string, where: string, run: (...args: A) => unknown) =>
    (...args: A): Promise<unknown> | undefined => {
      try {
        const outcome = run(...args)
        return isPromise(outcome) ? outcome.catch((error: unknown) => charge(plugin, where, error)) : undefined
      } catch (error) {
        charge(plugin, where, error)
        return undefined
      }
    }
  return {
    charge,
    chargeThrower,
    guard,
    isShipped,
    sentence,
    count: (plugin) => faults.get(plugin)?.count ?? 0,
    last: (plugin) => faults.get(plugin)?.last,
  }
}

/** The plugin whose code a stack passes through first. */
export const ownerOf = (error: unknown, owners: readonly CodeOwner[]): string | undefined => {
  const stack = stackOf(error) ?? ''
  for (const line of stack.split('\n')) {
    const owner = owners.find(({ owns }) => owns(line))
    if (owner !== undefined) return owner.id
  }
  return undefined
}

/** The error without what called the plugins' code; of a refusal that none of it took part in, the sentence alone. */
const shown = (error: unknown, owners: readonly CodeOwner[]): unknown => {
  const stack = stackOf(error)
  if (!isError(error) || stack === undefined) return error
  const lines = stack.split('\n')
  const last = lines.findLastIndex((line) => owners.some(({ owns }) => owns(line)))
  if (last < 0) return error instanceof Problem ? `${error.message} (${error.code})` : error
  if (last === lines.length - 1) return error
  const told = fault(messageOf(error), causeOf(error))
  return Object.assign(told, { name: nameOf(error), stack: lines.slice(0, last + 1).join('\n') })
}
