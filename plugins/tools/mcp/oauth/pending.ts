/** Logins that a person is about to finish in a browser: in memory alone, one for each server, for ten minutes. */
import { hash, timingSafeEqual } from 'node:crypto'
import { createAfterlife, type Clock, type Secrets } from '../../../../core/plugin.js'
import type { Account } from './account.js'

/** How long a person may take. Milliseconds. */
export const loginMs = 600_000

export interface Login {
  /** The server's name. */
  readonly server: string
  readonly state: string
  readonly verifier: string
  /** The account as it will be, without tokens. */
  readonly draft: Account
  /** Unix ms. */
  readonly expires_at_ms: number
}

export interface Pending {
  /** The earlier one of the same server is over. */
  add(login: Login): void
  /**
   * The login with this state, for the first one who asks; at `server` alone if one is named, else it stays. Takes the
   * same time wherever the states differ.
   */
  take(state: string, server?: string): Login | undefined
  /** It is over, whatever came of it. */
  end(login: Login): void
  of(server: string): Login | undefined
  /** Resolves when the login of a server is over; at once if there is none. */
  over(server: string): Promise<void>
}

interface Open {
  readonly login: Login
  readonly end: () => void
  readonly over: Promise<void>
  isTaken: boolean
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')

export const createPending = ({ clock, secrets }: { readonly clock: Clock; readonly secrets: Secrets }): Pending => {
  const logins = new Map<string, Open>()
  const afterlife = createAfterlife(clock)
  const end = (login: Login): void => {
    const found = logins.get(login.server)
    if (found?.login !== login) return
    logins.delete(login.server)
    found.end()
  }
  return {
    add(login) {
      const before = logins.get(login.server)
      if (before !== undefined) end(before.login)
      const letGo = [login.verifier, login.state].map(secrets.guard)
      const cancel = clock.after(loginMs, () => end(login))
      let tell = (): void => {}
      const over = new Promise<void>((resolve) => {
        tell = resolve
      })
      const undo = (): void => {
        cancel()
        // What is told of the end of a login is told behind it.
        afterlife.add(login.verifier.length + login.state.length, () => letGo.forEach((one) => one()))
        tell()
      }
      logins.set(login.server, { login, end: undo, over, isTaken: false })
    },
    take(state, server) {
      const asked = digestOf(state)
      const [found] = [...logins.values()].filter(
        ({ login, isTaken }) =>
          timingSafeEqual(digestOf(login.state), asked) && !isTaken && login.server === (server ?? login.server),
      )
      if (found !== undefined) found.isTaken = true
      return found?.login
    },
    end,
    of: (server) => logins.get(server)?.login,
    over: (server) => logins.get(server)?.over ?? Promise.resolve(),
  }
}
