/** Values of secrets that are redacted: those of variables for good, those of the file as long as they may be said. */
import type { Secrets } from '../../../core/plugin.js'
import type { SecretSource } from './sources.js'

type Undo = () => void

export interface Guards {
  /** A variable does not change while the daemon runs. */
  once(value: string): void
  /** What stands in the file now: what stood there before is let go at the next change. */
  replace(sources: Iterable<SecretSource>): void
  letGo(): void
}

const undoAll = (some: Iterable<Undo>): void => {
  for (const undo of some) undo()
}

export const createGuards = ({ guard }: Pick<Secrets, 'guard'>): Guards => {
  const lasting = new Map<string, Undo>()
  let [before, now]: [Undo[], Undo[]] = [[], []]
  return {
    once(value) {
      if (!lasting.has(value)) lasting.set(value, guard(value))
    },
    replace(sources) {
      undoAll(before)
      before = now
      now = [...sources].flatMap((source) => (source.type === 'file' ? [guard(source.value)] : []))
    },
    letGo() {
      for (const some of [before, now, lasting.values()]) undoAll(some)
      lasting.clear()
      before = now = []
    },
  }
}
