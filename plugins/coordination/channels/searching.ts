/** Messages that hold a text: one after the other is read, and others are served in between (channels-23). */
import { comparable, createShare, type Clock, type Sieve } from '../../../core/plugin.js'
import type { MessagePage, MessageRecord } from './contract.js'
import { sieveOf } from './sieve.js'

/** Ids that are looked up at once. */
const slice = 64
/** The part of the time that all searches take together. */
const part = 0.5

interface SearchParts {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Ids, newest first. */
  readonly ids: (page: MessagePage) => readonly string[]
  /** Undefined, too, where the sieve says no to it. */
  readonly message: (message_id: string, sieve: Sieve) => MessageRecord | undefined
}

interface Wish {
  /** Not blank. */
  readonly text: string
  /** Ends the search where nobody waits for it. */
  readonly signal: AbortSignal
}

/** Whether a sender, the words or the name of a file holds the text, which is comparable. */
const holds = ({ sender, output: { content, parts, artifacts } }: MessageRecord, text: string): boolean => {
  const has = (one: string | undefined): boolean => one !== undefined && comparable(one).includes(text)
  return (
    has(sender.id) ||
    has(sender.display_name) ||
    has(content) ||
    artifacts.some(({ file_name }) => has(file_name)) ||
    parts.some((one) => (one.type === 'text' ? one.text !== content && has(one.text) : has(one.attachment.file_name)))
  )
}

export type Search = (page: MessagePage, wish: Wish) => Promise<string[]>

/** All searches are done by turns, a message at a time: many of them take no more of the time than one. */
export const createSearch = ({ clock, ids, message }: SearchParts): Search => {
  // A plugin that is registered looks at no clock.
  let share: ReturnType<typeof createShare> | undefined
  const pause = () => (share ??= createShare(clock, { part, signal: new AbortController().signal }))()
  let last: Promise<void> = Promise.resolve()
  const turn = (): Promise<void> => (last = last.then(pause))
  return async (page, { text, signal }) => {
    const [wanted, sieve] = [comparable(text), sieveOf(text)]
    const found: string[] = []
    for (let before = page.before; ;) {
      const some = ids({ ...page, limit: slice, before })
      for (const id of some) {
        const one = message(id, sieve)
        if (one !== undefined && holds(one, wanted)) found.push(id)
        await turn()
        if (signal.aborted || found.length >= page.limit) return found
      }
      before = some.at(-1)
      if (some.length < slice) return found
    }
  }
}
