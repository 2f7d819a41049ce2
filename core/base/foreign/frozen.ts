/** Records of the daemon in the hands of somebody else's plugin: it reads them and cannot write to them. */
import { unsafeCast } from '../schema.js'

const frozen = new WeakSet<object>()

/** What JSON has: objects of classes, such as a transaction, are nobody's record. */
const isRecord = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Freezes a record and all that it holds, in place: what was frozen here before is not gone through again. */
export const freezeRecord = (value: unknown): void => {
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (!isRecord(one) || frozen.has(one)) continue
    frozen.add(Object.freeze(one))
    for (const inner of Object.values(one)) left.push(inner)
  }
}

/** Whoever calls it freezes what it passes. Each member is asked for when it is called, as of the thing itself. */
export const toldFrozen = <T>(observer: T): T => {
  const given = unsafeCast<object>(observer)
  const freezing = (method: unknown): unknown =>
    typeof method !== 'function'
      ? method
      : (...told: readonly unknown[]): unknown => {
          told.forEach(freezeRecord)
          return Reflect.apply(method, given, told)
        }
  return unsafeCast<T>(new Proxy({}, { get: (_, name) => freezing(Reflect.get(given, name)) }))
}
