/** Waiting for agents, until their work is done (agents-14). */
import type { Events } from '../../../core/plugin.js'
import { SessionStateChanged, type Sessions } from '../../execution/sessions/contract.js'
import type { AgentStore } from './store.js'

export interface AgentWait {
  readonly session_ids: readonly string[]
  readonly how: 'any' | 'all'
  /** The run that waits. */
  readonly run_id: string
  /** When it goes on in any case, Unix ms. */
  readonly until_ms: number
}

export interface AgentWaits {
  /** Resolves when one of the sessions (`any`), or all of them, are at rest, or when the signal aborts. */
  settled(wait: AgentWait, signal: AbortSignal): Promise<void>
  /** Those of a run that are not over. */
  of(run_id: string): readonly AgentWait[]
  begin(): () => void
}

export interface WaitsParts {
  readonly store: AgentStore
  readonly sessions: Sessions
  readonly events: Events
}

export const createWaits = ({ store, sessions, events }: WaitsParts): AgentWaits => {
  /** By the session whose rest may end them. */
  const listeners = new Map<string, Set<() => void>>()
  const waits = new Set<AgentWait>()
  const listen = (session_id: string, look: () => void): void => {
    const known = listeners.get(session_id)
    if (known === undefined) listeners.set(session_id, new Set([look]))
    else known.add(look)
  }
  const forget = (session_id: string, look: () => void): void => {
    const known = listeners.get(session_id)
    known?.delete(look)
    if (known?.size === 0) listeners.delete(session_id)
  }
  const isDone = (session_id: string): boolean => {
    const session = sessions.find(session_id)
    return session === undefined || !store.isLive(session)
  }
  return {
    settled: (wait, signal) =>
      new Promise((resolve) => {
        const { session_ids, how } = wait
        const isOver = (): boolean => (how === 'any' ? session_ids.some(isDone) : session_ids.every(isDone))
        const look = (): void => {
          if (!signal.aborted && !isOver()) return
          waits.delete(wait)
          for (const session_id of session_ids) forget(session_id, look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        waits.add(wait)
        for (const session_id of session_ids) listen(session_id, look)
        signal.addEventListener('abort', look)
        look()
      }),
    of: (run_id) => [...waits].filter((wait) => wait.run_id === run_id),
    begin: () =>
      events.on(SessionStateChanged, ({ session_id }) => {
        for (const look of listeners.get(session_id) ?? []) look()
      }),
  }
}
