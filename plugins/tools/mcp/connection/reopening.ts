/** When the stream of events of a server is asked for again that has ended. */
import { backoff, type Clock } from '../../../../core/plugin.js'

/** Told of a stream that is read. */
export interface StreamWatch {
  readonly onId: (id: string) => void
  readonly onEnd: () => void
}

export interface Reopening {
  /**
   * Resolves when a stream may be asked for that goes on behind the event `id`, at once where that belongs to the
   * answer of a request: somebody waits for it. True of such a one.
   */
  ask(id: string | null, signal: AbortSignal | undefined): Promise<boolean>
  /** A stream that begins now. */
  watch(isAnswer: boolean): StreamWatch
}

/** Milliseconds between a stream that did not hold and the next one; one that lasted so long did. */
const [waits, heldMs] = [{ base: 1_000, max: 60_000 }, 10_000]
/** Answers that ended early and are remembered. */
const mostAnswers = 100

export const createReopening = (clock: Pick<Clock, 'elapsed' | 'sleep'>): Reopening => {
  const answers = new Set<string>()
  let [failures, due] = [0, 0]
  const remember = (id: string): void => {
    answers.add(id)
    if (answers.size > mostAnswers) for (const oldest of [...answers].slice(0, 1)) answers.delete(oldest)
  }
  return {
    async ask(id, signal) {
      if (id !== null && answers.delete(id)) return true
      const wait = due - clock.elapsed()
      if (wait > 0) await clock.sleep(wait, signal)
      return false
    },
    watch(isAnswer) {
      const begun = clock.elapsed()
      let last: string | undefined
      return {
        onId: (id) => {
          last = id
        },
        onEnd() {
          if (isAnswer) return last === undefined ? undefined : remember(last)
          const now = clock.elapsed()
          failures = now - begun < heldMs ? failures + 1 : 1
          due = now + backoff(waits, failures)
        },
      }
    },
  }
}
