/** Whether a server is there, or will not be soon: what waits for it waits no longer than its start may take. */
import type { Clock } from '../../../../core/plugin.js'

export interface Presence {
  /** Resolves when it was there, or when nobody should wait for it any more. Never rejects. */
  readonly settled: Promise<void>
  isSettled(): boolean
  /** It has not been there for as long as a start of it may take. */
  isAbsent(): boolean
  /** From now on it counts as absent unless it comes in time; called again it changes nothing. */
  expect(): void
  come(): void
  /** Nobody should wait for it any more. */
  settle(): void
  /** It is not expected any more. */
  end(): void
}

export const createPresence = (clock: Pick<Clock, 'after'>, startupMs: () => number): Presence => {
  let [isSettled, isAbsent, tell]: [boolean, boolean, () => void] = [false, false, () => {}]
  let cancel: (() => void) | undefined
  const settled = new Promise<void>((resolve) => {
    tell = resolve
  })
  const settle = (): void => {
    isSettled = true
    tell()
  }
  const unexpect = (): void => {
    cancel?.()
    cancel = undefined
  }
  return {
    settled,
    isSettled: () => isSettled,
    isAbsent: () => isAbsent,
    expect() {
      if (isAbsent) return
      cancel ??= clock.after(startupMs(), () => {
        isAbsent = true
        settle()
      })
    },
    come() {
      unexpect()
      isAbsent = false
      settle()
    },
    settle,
    end() {
      unexpect()
      settle()
    },
  }
}
