/** Records of the daemon in the hands of somebody else's plugin: it reads them and cannot write to them. */
import { unsafeCast } from '../schema.js'

/** What JSON has: objects of classes, such as a transaction, are nobody's record. */
const isRecord = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Freezes a record and all that it holds, in place. There must be no circle in it, as there is none in JSON. */
export const freezeRecord = (value: unknown): void => {
  if (!isRecord(value)) return
  Object.freeze(value)
  // A list of the values of each would cost more than the rest.
  for (const name in value) freezeRecord(Reflect.get(value, name))
}

/** The same of what nothing has frozen but this: it is not gone through again. */
export const freezeOnce = (value: unknown): void => {
  if (!Object.isFrozen(value)) freezeRecord(value)
}

/** Whoever calls it freezes what it passes. Each member is asked for when it is called, as of the thing itself. */
export const toldFrozen = <T>(observer: T): T => {
  const given = unsafeCast<object>(observer)
  const freezing = (method: unknown): unknown =>
    typeof method !== 'function'
      ? method
      : (...told: readonly unknown[]): unknown => {
          told.forEach(freezeOnce)
          return Reflect.apply(method, given, told)
        }
  return unsafeCast<T>(new Proxy({}, { get: (_, name) => freezing(Reflect.get(given, name)) }))
}
