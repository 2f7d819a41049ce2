/** What goes to a connection of somebody else's plugin and comes from it: it writes to nothing that others keep. */
import { freezeOnce, messageOf, plainCopy, unsafeCast } from '../../../../core/plugin.js'

interface Question {
  readonly messages: readonly unknown[]
  readonly tools: readonly unknown[]
  readonly generation: unknown
}

/** Its members are those of later calls, and of other providers; the list itself grows with its conversation. */
const frozenList = <T>(list: readonly T[]): readonly T[] => {
  list.forEach(freezeOnce)
  return Object.freeze([...list])
}

/** The same question, frozen. */
export const frozenRequest = <Q extends Question>(request: Q): Q => {
  freezeOnce(request.generation)
  return Object.freeze({ ...request, messages: frozenList(request.messages), tools: frozenList(request.tools) })
}

/** Stands for what is no JSON or cannot be read: it fits nothing in the contract. `is` says why, behind its name. */
class Unread {
  readonly is: string
  constructor(is: string) {
    this.is = is
  }
}

/** What a getter throws says nothing that the author of its plugin could not see there. */
const orUnread = (read: () => unknown, why: (error: unknown) => string = () => 'cannot be read'): unknown => {
  try {
    return read()
  } catch (error) {
    return new Unread(why(error))
  }
}

/** Bytes of JSON of what stands in a part beside its texts, as much as one commit may hold; and its levels. */
const [mostBytes, mostLevels] = [24 * 1024 * 1024, 128]

/** Of a copy that could not be made the sentence is about `what it returned`. */
const ofCopy = (error: unknown): string => {
  const [, is] = /^what it returned (.+)$/su.exec(messageOf(error)) ?? []
  return is ?? 'cannot be read'
}

const copied = (value: unknown): unknown =>
  value === undefined || typeof value === 'string'
    ? value
    : orUnread(() => plainCopy(value, mostBytes, mostLevels), ofCopy)

/** Its own members of these names, each asked for once. */
const membersOf = (given: object, names: readonly string[], take: (value: unknown) => unknown): object =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(given, name) ? orUnread(() => take(Reflect.get(given, name))) : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )

const isObject = (given: unknown): given is object => typeof given === 'object' && given !== null

const partOf = (given: unknown): unknown => {
  if (!isObject(given)) return given
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(given))
  return isPlain ? membersOf(given, Object.keys(given), copied) : new Unread('is no plain object')
}

const numbers = ['input_tokens', 'output_tokens', 'cached_input_tokens', 'reasoning_tokens', 'searches']
const why = ['class', 'retryable', 'message', 'retry_after_ms', 'status']

const flat = (names: readonly string[]) => (given: unknown) =>
  isObject(given) ? membersOf(given, names, (value) => value) : given

const eventOf = (given: unknown): unknown => {
  if (!isObject(given)) return given
  const { type, text } = unsafeCast<Readonly<Record<string, unknown>>>(given)
  // They come by the thousand.
  if (type === 'text_delta' || type === 'reasoning_delta') return { type, text }
  return {
    type,
    ...membersOf(given, ['outcome'], (outcome) => outcome),
    ...membersOf(given, ['part'], partOf),
    ...membersOf(given, ['usage'], flat(numbers)),
    ...membersOf(given, ['failure'], flat(why)),
  }
}

/**
 * An event as it is when it comes, each member asked for once: what is looked at is what counts, whatever its plugin
 * makes of it later. What cannot be read is what no contract wants. Never throws.
 */
export const takenEvent = <E>(given: E): E => unsafeCast<E>(orUnread(() => eventOf(given)))

/** What of an event as it was taken could not be read, in words; undefined if all of it could. */
export const unreadIn = (event: unknown): string | undefined => {
  if (event instanceof Unread) return `the event ${event.is}`
  if (!isObject(event)) return undefined
  for (const [name, value] of Object.entries(event)) {
    if (value instanceof Unread) return `${name} ${value.is}`
    const inside = isObject(value) ? Object.entries(value).find(([, member]) => member instanceof Unread) : undefined
    if (inside?.[1] instanceof Unread) return `${name}.${inside[0]} ${inside[1].is}`
  }
  return undefined
}
